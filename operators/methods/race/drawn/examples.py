"""Draws worked examples, taken from tasks, for the prompts of agents."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from statistics import median
from typing import TYPE_CHECKING

from .....schema.edits import SetParameter, SetPrompt
from .....schema.values.hints import listed
from .answering import agents_that_answer, agents_that_ask, plain_answer, prompt_text, written
from .choosing import COUNTS, DRAWS, Example, can_be_shown, choose, with_examples

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from .....schema.edits import Edit
    from .....schema.team.team import Agent
    from ..task_trial import TaskTrial
    from .source import DrawnFrom, Sketch

LONGEST_WORKING = 3_000
"""Characters of an agent's own answer."""
RAMBLING = 2
"""An agent rambles if its answers are so many times as long as the longest reference answer."""
MORE_TOKENS = 8
"""Tokens of an answer beyond those of the longest reference answer."""
ExampleSource = Callable[["DrawnFrom", "Agent"], "Sequence[Example]"]


def examples(source: DrawnFrom) -> Iterator[Sketch]:
    """Show solved tasks: with their reference answers, or with the team's own right answers."""
    answering = agents_that_answer(source.team)
    others = [
        agent
        for agent in agents_that_ask(source.team)
        if agent not in answering and not source.team.predecessors[agent.id]
    ]
    for _, count in product(range(DRAWS), COUNTS):
        edits, shown = _shown(source, answering, count, reference_examples)
        limits = [edit for agent in answering for edit in _just_enough_tokens(source, agent)]
        if edits and limits:
            yield (*edits, *limits), f"{shown[:-1]}, and leave room for such an answer only."
        yield edits, shown
        for agents in (answering, *([agent] for agent in others)):
            yield _shown(source, agents, count, own_examples)


def _shown(
    source: DrawnFrom, agents: Sequence[Agent], count: int, examples_of: ExampleSource
) -> tuple[tuple[Edit, ...], str]:
    """Show each agent some examples, drawn for each of them; the reason gives their number."""
    edits: list[SetPrompt] = []
    for agent in agents:
        if chosen := choose(examples_of(source, agent), count, source.chance):
            prompt = with_examples(prompt_text(agent, source.catalogue), chosen)
            edits.append(SetPrompt(agent=agent.id, prompt=prompt))
            count = min(count, len(chosen))
    whose = "own right answers" if examples_of is own_examples else "solved tasks"
    shown_to = listed([edit.agent for edit in edits])
    return tuple(edits), f"Show {count} {whose} as examples to {shown_to}."


def _just_enough_tokens(source: DrawnFrom, agent: Agent) -> Iterator[SetParameter]:
    """Limit the tokens of an agent that rambles although the reference answers are short.

    A token has at least one byte, so none of these answers would be cut off.
    """
    answers = [example.answer for example in reference_examples(source, agent)]
    outcomes = (trial.run.agents.get(agent.id) for trial in source.trials)
    lengths = [len(outcome.result.content) for outcome in outcomes if outcome and outcome.result]
    if agent.output_schema is None and answers and lengths:
        longest = max(len(answer.encode()) for answer in answers)
        enough = longest + MORE_TOKENS
        if median(lengths) > RAMBLING * longest and enough < agent.max_tokens:
            yield SetParameter(agent=agent.id, field="max_tokens", value=enough)


def reference_examples(source: DrawnFrom, agent: Agent) -> Sequence[Example]:
    """Return the tasks with their reference answers, as an agent would have to write them."""
    return [
        example
        for trial in source.trials
        if (answer := plain_answer(trial.task)) is not None
        if (text := written(answer, agent.output_schema)) is not None
        for example in _example(trial, text, label=answer)
    ]


def own_examples(source: DrawnFrom, agent: Agent) -> Sequence[Example]:
    """Return the tasks that the team solved, with an agent's output on them.

    Empty if the outputs are nothing but the reference answers.
    """
    own: list[Example] = []
    for trial in source.trials:
        outcome = trial.run.agents.get(agent.id)
        if trial.score.value >= 1 and outcome is not None and outcome.result is not None:
            text = outcome.result.content.strip()
            label = plain_answer(trial.task) or text
            own += _example(trial, text, label) if 0 < len(text) <= LONGEST_WORKING else []
    references = {example.query: example.answer for example in reference_examples(source, agent)}
    has_more = any(references.get(example.query) != example.answer for example in own)
    return own if has_more else ()


def _example(trial: TaskTrial, answer: str, label: str) -> Iterator[Example]:
    if can_be_shown(trial.task):
        query, niche = trial.task.text.strip(), trial.task.niche or ""
        yield Example(query=query, answer=answer, niche=niche, label=label)
