"""Edits of who reports to whom, and of whose output is the answer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, ClassVar, Self

from ...values.problems import Path, quoted
from ...values.values import plain
from ..components import Component
from ..offer._offer import Offer
from ..offer._structure import is_tied, new_edges, spare_edges
from ..offer.strict import Schema, pairs
from ._edges import EDGES, insert_edge
from .kind import Kind, Objection, Value, no_agent


@dataclass(frozen=True, kw_only=True, slots=True)
class OfEdge(Kind):
    """An edit of whether one agent reports to another."""

    component: ClassVar[Component] = "topology"

    sender: str
    receiver: str

    @property
    def claims(self) -> tuple[Path, ...]:
        """The edge."""
        return ((*EDGES, self.sender, self.receiver),)

    @property
    def about(self) -> tuple[str, ...]:
        """Both ends."""
        return (self.sender, self.receiver)


@dataclass(frozen=True, kw_only=True, slots=True)
class AddEdge(OfEdge):
    """Lets one agent report to another. Edges in the order of the roster stay in order."""

    def make(self, value: Value) -> Iterator[Objection]:
        """Put the edge where the order of the roster has it."""
        insert_edge(value, self.sender, self.receiver)
        return iter(())

    @classmethod
    def offers(cls, offer: Offer) -> Iterator[Schema]:
        """Offer the edges that close no cycle, whatever else comes."""
        if is_tied(offer.team) and offer.room_for_new_edges > 0:
            new = new_edges(offer.team, together=offer.together)
            yield from pairs("add_edge", "sender", "receiver", new)


@dataclass(frozen=True, kw_only=True, slots=True)
class RemoveEdge(OfEdge):
    """Lets an agent no longer report to another."""

    def make(self, value: Value) -> Iterator[Objection]:
        """Take the edge out, where there is one."""
        reports_to: dict[str, list[str]] = value["topology"]["reports_to"]
        receivers = reports_to.get(self.sender, [])
        if self.sender not in value["agents"]:
            yield self, "sender", no_agent(self.sender, value)
        elif self.receiver not in receivers:
            text = f"It reports to {', '.join(receivers)}." if receivers else "It has no receivers."
            what = f"{self.sender} does not report to {quoted(self.receiver)}."
            yield self, "receiver", f"{what} {text}"
        else:
            receivers.remove(self.receiver)
            rest = {name: others for name, others in reports_to.items() if others}
            value["topology"]["reports_to"] = rest

    @classmethod
    def offers(cls, offer: Offer) -> Iterator[Schema]:
        """Offer the edges that nobody needs."""
        if is_tied(offer.team):
            spare = spare_edges(offer.team, together=offer.together)
            yield from pairs("remove_edge", "sender", "receiver", spare)


@dataclass(frozen=True, kw_only=True, slots=True)
class SetOutput(Kind):
    """Declares whose output is the team's answer. None leaves it to Kahn's order."""

    component: ClassVar[Component] = "topology"

    agent: str | None

    @property
    def claims(self) -> tuple[Path, ...]:
        """The output."""
        return (("topology", "output"),)

    def make(self, value: Value) -> Iterator[Objection]:
        """Declare it."""
        value["topology"]["output"] = self.agent
        return iter(())


@dataclass(frozen=True, kw_only=True, slots=True)
class ReplaceTopology(Kind):
    """Says anew who reports to whom, for the whole team, and whose output is the answer.

    A crossover takes a parent's topology whole with `ReplaceTopology(reports_to=parent.reports_to,
    output=parent.declared_output)`.
    """

    component: ClassVar[Component] = "topology"

    reports_to: Mapping[str, tuple[str, ...]]
    output: str | None = None

    @property
    def claims(self) -> tuple[Path, ...]:
        """All of it."""
        return (("topology",),)

    def make(self, value: Value) -> Iterator[Objection]:
        """Put it in the place of what is there."""
        value["topology"] = {"reports_to": plain(self.reports_to), "output": self.output}
        return iter(())

    def to_json(self) -> dict[str, Any]:
        """Leave out an output that is not declared."""
        output = {"output": self.output} if self.output else {}
        return {"reports_to": plain(self.reports_to), **output}

    @classmethod
    def of(cls, written: Mapping[str, Any]) -> Self:
        """Build it."""
        reports_to = {item: tuple(others) for item, others in written["reports_to"].items()}
        return cls(reports_to=MappingProxyType(reports_to), output=written.get("output"))
