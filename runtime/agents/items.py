"""Agents that work once for each item of a list: the items, and their collected results."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import chain
from typing import TYPE_CHECKING, Any

from ...schema.values.json_text import dumps, loads
from ...schema.values.values import is_list, is_mapping
from ..gateway.chat.dialogue import shortened
from ..values.bounds import LONGEST_CONTENT
from ..values.structured import json_in
from ..values.usage import Usage
from .outcomes import AgentOutcome
from .runner import AgentResult

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...schema.team.conditions import Each
    from ...schema.team.task import Task
    from ...schema.team.team import Agent


@dataclass(frozen=True, kw_only=True, slots=True)
class Item:
    """An agent's part of a list.

    Attributes:
        number: The item's number, from 1.
        of: The number of items that the agent works on.
        text: The item: a text unchanged, any other value as JSON.
    """

    number: int
    of: int
    text: str


def items_of(task: Task, field: str | None) -> list[Any]:
    """Return a list of a task: the names of its files, or the items of its material.

    Material is a JSON list; or else each of its non-empty lines is an item.
    """
    if field == "files":
        return sorted({*task.files, *task.attachments})
    try:
        value = loads(task.context)
    except ValueError:
        value = None
    lines = filter(None, map(str.strip, task.context.splitlines()))
    return value if is_list(value) else [*lines]


def items_in(content: str, each: Each) -> list[Any] | None:
    """Return the list in an answer; None if it has none."""
    try:
        value: Any = json_in(content)
    except ValueError:
        return None
    if each.field is not None:
        value = value.get(each.field) if is_mapping(value) else None
    return value if is_list(value) else None


def numbered(values: Sequence[Any], most: int) -> list[Item]:
    """Return the first `most` values as items."""
    count = min(len(values), most)
    texts = [v if isinstance(v, str) else dumps(v, ensure_ascii=False) for v in values]
    return [Item(number=at, of=count, text=text) for at, text in enumerate(texts[:count], 1)]


def collected(
    agent: Agent, outcomes: Sequence[AgentOutcome], left_out: int, *, bears: bool
) -> AgentOutcome:
    """Sum up the outcomes of an agent's items: its answer is the list of answers, in order.

    Args:
        left_out: The number of further items in the list.
        bears: Whether items may fail; null then stands for a failed one. Not all may fail.
    """
    lost = [(at, item) for at, item in enumerate(outcomes, 1) if item.status != "done"]
    warnings = [f"{left_out} more items were left out"] if left_out else []
    warnings += [f"item {at} failed: {item.error}" for at, item in lost]
    mishaps = chain.from_iterable(item.mishaps for item in outcomes)
    whole = AgentOutcome(
        status="done",
        result=_listed(agent, outcomes),
        usage=sum((item.usage for item in outcomes), Usage()),
        seconds=max(item.seconds for item in outcomes),
        attempts=max(item.attempts for item in outcomes),
        tool_calls=tuple(chain.from_iterable(item.tool_calls for item in outcomes)),
        mishaps=tuple(dict.fromkeys([*warnings, *mishaps])),
        dialogue=outcomes[-1].dialogue,
        recalled=max(item.recalled for item in outcomes),
    )
    if not lost or (bears and len(lost) < len(outcomes)):
        return whole
    at, first = next((pair for pair in lost if pair[1].status == "failed"), lost[0])
    error = f"item {at}: {first.error}"
    return replace(whole, status=first.status, result=None, error=error, fault=first.fault)


def _listed(agent: Agent, outcomes: Sequence[AgentOutcome]) -> AgentResult:
    results = [outcome.result for outcome in outcomes]
    values = [_value(agent, result.content) if result else None for result in results]
    steps = [
        {**step, "item": at}
        for at, result in enumerate(results, 1)
        if result
        for step in result.steps
    ]
    content = dumps(shortened(values, LONGEST_CONTENT), ensure_ascii=False)
    return AgentResult(content=content, steps=steps)


def _value(agent: Agent, content: str) -> Any:
    """Return an item's answer: a value if the agent is structured; a cut one as text."""
    try:
        return content if agent.output_schema is None else loads(content)
    except ValueError:
        return content
