"""When an agent works, and how often: on a condition, or once for each item of a list."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

from ..values.json_text import dumps

TASK_LISTS = ("context", "files")
"""The fields of a task that are lists: the lines of its material, and the names of its files."""
Number = int | float


@dataclass(frozen=True, kw_only=True, slots=True)
class When:
    """What an earlier agent must have answered for an agent to work. All tests must hold.

    Texts are compared without regard to case and to spaces around them.

    Attributes:
        agent: Whose answer is tested. Empty: of the one whose report is read on this condition.
        field: The field of its structured answer. None: the whole answer, a label or a number.
        is_: What it must be.
        in_: What it must be one of.
        at_least: The smallest number that it may be.
        at_most: The largest.
    """

    agent: str = ""
    field: str | None = None
    is_: Any = None
    in_: tuple[Any, ...] = ()
    at_least: Number | None = None
    at_most: Number | None = None

    @property
    def choices(self) -> Mapping[str, tuple[Any, ...]]:
        """The values of which it must be one, by the tests that say so."""
        only = () if self.is_ is None else (self.is_,)
        return {test: values for test, values in (("is", only), ("in", self.in_)) if values}

    @property
    def bounds(self) -> Mapping[str, Number]:
        """The bounds of the number that it must be, by the tests that say so."""
        both = (("at_least", self.at_least), ("at_most", self.at_most))
        return {test: bound for test, bound in both if bound is not None}

    @property
    def subject(self) -> str:
        """What is tested: `triage.kind`."""
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
        """Have the agent follow to its new id; None where it went."""
        agent = new_ids.get(self.agent, self.agent)
        return None if agent is None else replace(self, agent=agent)


def readings_following(
    reads: Mapping[str, When], new_ids: Mapping[str, str | None]
) -> Mapping[str, When]:
    """Have the agents of an agent's reading conditions follow; without one, a condition goes."""
    moved = {new_ids.get(name, name): when.following(new_ids) for name, when in reads.items()}
    return MappingProxyType({name: when for name, when in moved.items() if name and when})


@dataclass(frozen=True, kw_only=True, slots=True)
class Each:
    """The list over which an agent works, once for each item.

    Attributes:
        agent: The agent in whose answer the list is. None: it is in the task.
        field: The field of that answer, or of the task. None: the whole answer.
        most: How many items it works on at most.
    """

    agent: str | None = None
    field: str | None = None
    most: int = 10

    @property
    def subject(self) -> str:
        """What the list is: `planner.steps`, `task.files`."""
        return ".".join(filter(None, (self.agent or "task", self.field)))

    def __str__(self) -> str:
        return f"for each of {self.subject}, at most {self.most}"

    def following(self, new_ids: Mapping[str, str | None]) -> Each | None:
        """Have the agent follow to its new id; None where it went."""
        if self.agent is None:
            return self
        agent = new_ids.get(self.agent, self.agent)
        return None if agent is None else replace(self, agent=agent)


def _shown(value: Any) -> str:
    return value if isinstance(value, str) else dumps(value)


def _comparable(value: Any) -> tuple[type, Any]:
    """Return what equal values share: true is not 1, and 1.0 is."""
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
