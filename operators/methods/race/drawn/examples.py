"""Draws worked examples, taken from tasks, into the prompts of agents."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

from .....schema.edits import SetPrompt
from .....schema.values.hints import listed
from .answering import agents_that_answer, agents_that_ask, plain_answer, prompt_text, written
from .choosing import COUNTS, Example, can_be_shown, choose, with_examples

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from .....schema.team.team import Agent
    from ..task_trial import TaskTrial
    from .source import DrawnFrom, Sketch

__all__ = ["examples", "reference_examples"]

DRAWS = 4
"""How often examples are drawn anew for each number of them."""
LONGEST_WORKING = 3_000
"""Characters of an agent's own answer."""


def examples(source: DrawnFrom) -> Iterator[Sketch]:
    """Show solved tasks: with their reference answers, or with the team's own right answers."""
    answering = agents_that_answer(source.team)
    others = [
        agent
        for agent in agents_that_ask(source.team)
        if agent not in answering and not source.team.predecessors[agent.id]
    ]
    for _, count in product(range(DRAWS), COUNTS):
        yield from _shown(source, answering, count, own=False)
        yield from _shown(source, answering, count, own=True)
        for agent in others:
            yield from _shown(source, [agent], count, own=True)


def _shown(
    source: DrawnFrom, agents: Sequence[Agent], count: int, *, own: bool
) -> Iterator[Sketch]:
    """Show each agent some examples, drawn for each of them."""
    edits: list[SetPrompt] = []
    for agent in agents:
        known = own_examples(source, agent) if own else reference_examples(source, agent)
        if chosen := choose(known, count, source.chance):
            prompt = with_examples(prompt_text(agent, source.catalogue), chosen)
            edits.append(SetPrompt(agent=agent.id, prompt=prompt))
            count = min(count, len(chosen))
    if edits:
        whose = "own right answers" if own else "solved tasks"
        shown_to = listed([edit.agent for edit in edits])
        yield tuple(edits), f"Show {count} {whose} as examples to {shown_to}."


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
    """Return the tasks that the team solved, with what an agent wrote on them."""
    found: list[Example] = []
    for trial in source.trials:
        outcome = trial.run.agents.get(agent.id)
        if trial.score.value >= 1 and outcome is not None and outcome.result is not None:
            text = outcome.result.content.strip()
            label = plain_answer(trial.task) or text
            found += _example(trial, text, label) if 0 < len(text) <= LONGEST_WORKING else []
    return found


def _example(trial: TaskTrial, answer: str, label: str) -> Iterator[Example]:
    if can_be_shown(trial.task):
        query, niche = trial.task.text.strip(), trial.task.niche or ""
        yield Example(query=query, answer=answer, niche=niche, label=label)
