"""When and how often an agent works: on a condition, or once for each item of a list."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

from ..values.json_text import dumps

TASK_LISTS = ("context", "files")
"""The fields of a task that are lists: the lines of its context, and the names of its files."""
Number = int | float


@dataclass(frozen=True, kw_only=True, slots=True)
class When:
    """A condition on the answer of an earlier agent. All tests must pass.

    Text comparison ignores case and surrounding spaces.

    Attributes:
        agent: The agent whose answer is tested. Empty: the agent whose report is read.
        field: The field of its structured answer. None: the whole answer, a label or a number.
        is_: The required value.
        in_: The accepted values.
        at_least: The smallest accepted number.
        at_most: The largest accepted number.
    """

    agent: str = ""
    field: str | None = None
    is_: Any = None
    in_: tuple[Any, ...] = ()
    at_least: Number | None = None
    at_most: Number | None = None

    @property
    def choices(self) -> Mapping[str, tuple[Any, ...]]:
        """The accepted values, by test: `is` or `in`."""
        only = () if self.is_ is None else (self.is_,)
        return {test: values for test, values in (("is", only), ("in", self.in_)) if values}

    @property
    def bounds(self) -> Mapping[str, Number]:
        """The bounds of an accepted number, by test: `at_least` or `at_most`."""
        both = (("at_least", self.at_least), ("at_most", self.at_most))
        return {test: bound for test, bound in both if bound is not None}

    @property
    def subject(self) -> str:
        """The name of the tested value: `triage.kind`."""
        return ".".join(filter(None, (self.agent, self.field))) or "it"

    def __str__(self) -> str:
        texts = [" or ".join(map(_shown, values)) for values in self.choices.values()]
        texts += [f"{test.replace('_', ' ')} {bound:g}" for test, bound in self.bounds.items()]
        return f"when {self.subject} is {' and '.join(texts)}"

    def holds(self, value: Any) -> bool:
        """Return whether a value passes all tests."""
        alike = _comparable(value)
        if any(alike not in map(_comparable, values) for values in self.choices.values()):
            return False
        number = _number(value) if self.bounds else 0
        if number is None:
            return False
        low, high = self.bounds.get("at_least", number), self.bounds.get("at_most", number)
        return low <= number <= high

    def following(self, new_ids: Mapping[str, str | None]) -> When | None:
        """Return the condition with its agent's new id; None if that agent was removed."""
        agent = new_ids.get(self.agent, self.agent)
        return None if agent is None else replace(self, agent=agent)


def readings_following(
    reads: Mapping[str, When], new_ids: Mapping[str, str | None]
) -> Mapping[str, When]:
    """Return an agent's reading conditions with new ids, without those of removed agents."""
    moved = {new_ids.get(name, name): when.following(new_ids) for name, when in reads.items()}
    return MappingProxyType({name: when for name, when in moved.items() if name and when})


@dataclass(frozen=True, kw_only=True, slots=True)
class Each:
    """A list; an agent works once for each of its items.

    Attributes:
        agent: The agent whose answer holds the list. None: the task holds it.
        field: The field of that answer, or of the task. None: the whole answer.
        most: The maximum number of items to work on.
    """

    agent: str | None = None
    field: str | None = None
    most: int = 10

    @property
    def subject(self) -> str:
        """The name of the list: `planner.steps`, `task.files`."""
        return ".".join(filter(None, (self.agent or "task", self.field)))

    def __str__(self) -> str:
        return f"for each of {self.subject}, at most {self.most}"

    def following(self, new_ids: Mapping[str, str | None]) -> Each | None:
        """Return the list with its agent's new id; None if that agent was removed."""
        if self.agent is None:
            return self
        agent = new_ids.get(self.agent, self.agent)
        return None if agent is None else replace(self, agent=agent)


def _shown(value: Any) -> str:
    return value if isinstance(value, str) else dumps(value)


def _comparable(value: Any) -> tuple[type, Any]:
    """Return a key that equal values share: true differs from 1, and 1.0 does not."""
    if isinstance(value, str):
        return str, value.strip().casefold()
    return (
        (float, value)
        if isinstance(value, Number) and not isinstance(value, bool)
        else (type(value), value)
    )


def _number(value: Any) -> Number | None:
    if isinstance(value, str):
        try:
            return float(value)
        except ValueError:
            return None
    return value if isinstance(value, Number) and not isinstance(value, bool) else None
