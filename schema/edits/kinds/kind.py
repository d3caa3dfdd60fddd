"""What every kind of edit says of itself; each kind is one class.

An edit says *what* is to be so, never how to get there, and no two edits of a list may decide the
same thing. So a list of edits is a set: its order does not matter.

Edits name agents by the ids of the team that they make. Only `RemoveAgent` and the `agent` of a
`RenameAgent` mean ids of the team that they change.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, ClassVar, Self

from ...values.hints import did_you_mean
from ...values.problems import quoted
from ...values.values import frozen, plain

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from ...values.problems import Path
    from ..changes import FieldChange
    from ..components import Component
    from ..offer._offer import Offer
    from ..offer.strict import Schema

Value = dict[str, Any]
"""A team's plain value while edits are made to it."""

Objection = tuple["Kind", str, str]
"""An edit, the field of it that has no place, and why."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Kind(ABC):
    """An edit. A kind Must name its component, what it decides, and how it is made."""

    component: ClassVar[Component]

    @property
    @abstractmethod
    def claims(self) -> tuple[Path, ...]:
        """What it decides: places in the team that it makes, ids, agents of the parent."""

    @property
    def about(self) -> tuple[str, ...]:
        """The agents that it is about, in the team that it makes."""
        return ()

    def make(self, value: Value) -> Iterator[Objection]:
        """Make it to a team's plain value.

        What a value may be is not asked: it is loaded afterwards, as any file is. An edit is
        objected to only where it has no place in the team.
        """
        raise NotImplementedError

    @classmethod
    def make_all(cls, value: Value, edits: Sequence[Any]) -> Iterator[Objection]:
        """Make all edits of the kind, in canonical order."""
        for edit in edits:
            yield from edit.make(value)

    @classmethod
    def making(cls, change: FieldChange) -> Iterator[Kind]:
        """Return the edits that make a change, where it is one that edits of this kind make."""
        del change
        return iter(())

    @classmethod
    def offers(cls, offer: Offer) -> Iterator[Schema]:
        """Write what a model may choose from, so that whatever it chooses makes a team."""
        del offer
        return iter(())

    def to_json(self) -> dict[str, Any]:
        """Return what it says in JSON, without what is at its default."""
        return {field.name: plain(getattr(self, field.name)) for field in fields(self)}

    @classmethod
    def of(cls, written: Mapping[str, Any]) -> Self:
        """Build it from what stands in JSON, of the right shape."""
        return cls(**frozen(written))


@dataclass(frozen=True, kw_only=True, slots=True)
class OfAgent(Kind):
    """An edit of one agent in its place."""

    agent: str

    @property
    def about(self) -> tuple[str, ...]:
        """The agent."""
        return (self.agent,)

    def make(self, value: Value) -> Iterator[Objection]:
        """Make it to the agent, where there is one."""
        if self.agent in value["agents"]:
            yield from self.make_to(value["agents"][self.agent])
        else:
            yield self, "agent", no_agent(self.agent, value)

    @abstractmethod
    def make_to(self, agent: Value) -> Iterator[Objection]:
        """Make it to the agent's plain value."""


def tag(kind: type[Kind]) -> str:
    """Return a kind's name in JSON: `set_prompt` for `SetPrompt`."""
    return re.sub(r"(?<!^)(?=[A-Z])", "_", kind.__name__).lower()


def check_field(edit: Kind, field: str, names: Collection[str]) -> None:
    """Make sure that a kind sets a field.

    Raises:
        ValueError: It does not.
    """
    if field not in names:
        name = type(edit).__name__
        raise ValueError(f"{name} cannot set {field!r}. It sets {', '.join(sorted(names))}.")


def put(fields: Value, field: str, item: Any) -> None:
    """Write a field; None and an empty text leave it at its default."""
    if item is None or item == "":
        fields.pop(field, None)
    else:
        fields[field] = plain(item)


def no_agent(name: str, value: Value) -> str:
    """Say that there is no such agent, and which may be meant."""
    agents: Collection[str] = value["agents"]
    hint = did_you_mean(name, agents) or f" Agents: {', '.join(agents)}."
    return f"no agent {quoted(name)}.{hint}"


def id_in_use(name: str) -> str:
    """Say that there is such an agent already."""
    return f"there is an agent {quoted(name)} already. Choose another id."
