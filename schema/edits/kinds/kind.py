"""The base of all kinds of edits; each kind is one class.

An edit states a result, never the way to it, and no two edits of a list may decide the same thing.
So a list of edits is a set: its order does not matter.

Edits name agents by the ids of the team that they make. Only `RemoveAgent` and the `agent` of a
`RenameAgent` use ids of the team that they change.
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
"""A team's plain value while edits are applied to it."""

Objection = tuple["Kind", str, str]
"""An edit, its field that does not fit the team, and the reason."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Kind(ABC):
    """An edit. Each kind names its component and its claims, and applies itself."""

    component: ClassVar[Component]

    @property
    @abstractmethod
    def claims(self) -> tuple[Path, ...]:
        """The things that the edit decides: places in the edited team, ids, parent's agents."""

    @property
    def about(self) -> tuple[str, ...]:
        """The agents that the edit is about, by their ids in the edited team."""
        return ()

    def make(self, value: Value) -> Iterator[Objection]:
        """Apply the edit to a team's plain value.

        The new values are not checked: the team is loaded afterwards, like any file. An edit yields
        an objection only if the place that it names does not exist.
        """
        raise NotImplementedError

    @classmethod
    def make_all(cls, value: Value, edits: Sequence[Any]) -> Iterator[Objection]:
        """Apply all edits of the kind, in canonical order."""
        for edit in edits:
            yield from edit.make(value)

    @classmethod
    def making(cls, change: FieldChange) -> Iterator[Kind]:
        """Return the edits of this kind that make a change; empty if another kind makes it."""
        del change
        return iter(())

    @classmethod
    def offers(cls, offer: Offer) -> Iterator[Schema]:
        """Yield schemas of edits that a model may choose from; every choice makes a valid team."""
        del offer
        return iter(())

    def to_json(self) -> dict[str, Any]:
        """Return the edit's fields as plain JSON values."""
        return {field.name: plain(getattr(self, field.name)) for field in fields(self)}

    @classmethod
    def of(cls, written: Mapping[str, Any]) -> Self:
        """Build the edit from JSON values of the right shape."""
        return cls(**frozen(written))


@dataclass(frozen=True, kw_only=True, slots=True)
class OfAgent(Kind):
    """An edit of one existing agent."""

    agent: str

    @property
    def about(self) -> tuple[str, ...]:
        """The edited agent."""
        return (self.agent,)

    def make(self, value: Value) -> Iterator[Objection]:
        """Apply the edit to its agent, or object if there is no such agent."""
        if self.agent in value["agents"]:
            yield from self.make_to(value["agents"][self.agent])
        else:
            yield self, "agent", no_agent(self.agent, value)

    @abstractmethod
    def make_to(self, agent: Value) -> Iterator[Objection]:
        """Apply the edit to the agent's plain value."""


def tag(kind: type[Kind]) -> str:
    """Return a kind's name in JSON: `set_prompt` for `SetPrompt`."""
    return re.sub(r"(?<!^)(?=[A-Z])", "_", kind.__name__).lower()


def check_field(edit: Kind, field: str, names: Collection[str]) -> None:
    """Check that a kind can set a field.

    Raises:
        ValueError: It cannot.
    """
    if field not in names:
        name = type(edit).__name__
        raise ValueError(f"{name} cannot set {field!r}. It sets {', '.join(sorted(names))}.")


def put(fields: Value, field: str, item: Any) -> None:
    """Set a field; None and an empty text restore the default."""
    if item is None or item == "":
        fields.pop(field, None)
    else:
        fields[field] = plain(item)


def no_agent(name: str, value: Value) -> str:
    """Return the message for an unknown agent, with the closest known name."""
    agents: Collection[str] = value["agents"]
    hint = did_you_mean(name, agents) or f" Agents: {', '.join(agents)}."
    return f"no agent {quoted(name)}.{hint}"


def id_in_use(name: str) -> str:
    """Return the message for an id that is taken."""
    return f"there is an agent {quoted(name)} already. Choose another id."
