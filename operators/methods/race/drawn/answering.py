"""Which agents of a team call a model, which give its answer, and how an answer is written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from inspect import iscoroutinefunction
from typing import Any

from .....runtime.scoring.voting import picks
from .....schema.host.catalogue import Catalogue, load_named
from .....schema.team.task import Task
from .....schema.team.team import Agent, Team, is_prompt_id
from .....schema.values.json_text import dumps, loads

ANSWER = "answer"
"""The field of a structured answer that counts as the answer."""


def agents_that_ask(team: Team) -> Sequence[Agent]:
    """Return the agents that call a model."""
    return [agent for agent in team.agents.values() if team.asks_model(agent)]


def agents_that_answer(team: Team) -> Sequence[Agent]:
    """Return the agents that call a model and whose output is the answer, or a vote for it."""
    waiting = [team.output]
    answering: list[Agent] = []
    while waiting:
        agent = team.agents[waiting.pop(0)]
        if team.asks_model(agent):
            answering.append(agent)
        elif agent.function and picks(agent.function):
            waiting += team.predecessors[agent.id]
    return list({agent.id: agent for agent in answering}.values())


def prompt_text(agent: Agent, catalogue: Catalogue) -> str:
    """Return the text of an agent's prompt, read from its prompt file if it names one."""
    text = catalogue.prompt(agent.prompt) if is_prompt_id(agent.prompt) else agent.prompt
    return (text or "").strip()


def plain_answer(task: Task) -> str | None:
    """Return a task's reference answer as a team would write it; None if it is no such text.

    The references of a scorer that runs something, such as tests, are no answers. Neither are
    patterns, nor perhaps those of a Python function of this host.
    """
    scorer, answer = task.scorer, task.answer
    is_pattern = scorer.name == "regex" and "pattern" not in scorer.options
    is_own = scorer.python is not None
    is_run = is_own or (
        scorer.name != "regex" and iscoroutinefunction(load_named("scorers", scorer.name))
    )
    if is_pattern or is_run or not isinstance(answer, str | int | float):
        return None
    is_value = scorer.name == "json" and not isinstance(answer, str)
    return (dumps(answer) if is_value else str(answer).strip()) or None


def holds_answer_alone(schema: Mapping[str, Any]) -> bool:
    """Return whether an output schema describes an object with nothing but an answer."""
    return set(schema.get("properties", ())) == {ANSWER}


def is_free(agent: Agent) -> bool:
    """Return whether an agent's output has no schema, or one with nothing but the answer."""
    return agent.output_schema is None or holds_answer_alone(agent.output_schema)


def written(answer: str, schema: Mapping[str, Any] | None) -> str | None:
    """Write an answer in the form of an output schema; None if the schema needs more than that.

    Args:
        schema: The output schema of the agent; None if it has none.
    """
    if schema is None:
        return answer
    if not holds_answer_alone(schema):
        return None
    value: Mapping[str, Any] = schema["properties"][ANSWER]
    if value.get("type") not in {"integer", "number"}:
        return dumps({ANSWER: answer}, ensure_ascii=False)
    try:
        return dumps({ANSWER: loads(answer)})
    except ValueError:
        return None


def new_id(wanted: str, team: Team) -> str:
    """Return an unused agent id: the preferred one, numbered if necessary."""
    numbered = (f"{wanted}_{number}" for number in range(2, len(team.agents) + 3))
    return next(name for name in (wanted, *numbered) if name not in team.agents)
