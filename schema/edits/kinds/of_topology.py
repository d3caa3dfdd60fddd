"""Edits of who reports to whom, and of the output agent."""

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
    """An edit that decides whether one agent reports to another."""

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
        """Insert the edge at its place in the order of the roster."""
        insert_edge(value, self.sender, self.receiver)
        return iter(())

    @classmethod
    def offers(cls, offer: Offer) -> Iterator[Schema]:
        """Offer the edges that close no cycle, in any combination with other edits."""
        if is_tied(offer.team) and offer.room_for_new_edges > 0:
            new = new_edges(offer.team, together=offer.together)
            yield from pairs("add_edge", "sender", "receiver", new)


@dataclass(frozen=True, kw_only=True, slots=True)
class RemoveEdge(OfEdge):
    """Removes an edge: an agent no longer reports to another."""

    def make(self, value: Value) -> Iterator[Objection]:
        """Remove the edge, or object if there is none."""
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
        """Offer the edges that the team can do without."""
        if is_tied(offer.team):
            spare = spare_edges(offer.team, together=offer.together)
            yield from pairs("remove_edge", "sender", "receiver", spare)


@dataclass(frozen=True, kw_only=True, slots=True)
class SetOutput(Kind):
    """Declares the agent whose output is the answer. None leaves the choice to Kahn's order."""

    component: ClassVar[Component] = "topology"

    agent: str | None

    @property
    def claims(self) -> tuple[Path, ...]:
        """The output."""
        return (("topology", "output"),)

    def make(self, value: Value) -> Iterator[Objection]:
        """Declare the output."""
        value["topology"]["output"] = self.agent
        return iter(())


@dataclass(frozen=True, kw_only=True, slots=True)
class ReplaceTopology(Kind):
    """Replaces all edges of the team and its declared output.

    A crossover takes a parent's topology whole with `ReplaceTopology(reports_to=parent.reports_to,
    output=parent.declared_output)`.
    """

    component: ClassVar[Component] = "topology"

    reports_to: Mapping[str, tuple[str, ...]]
    output: str | None = None

    @property
    def claims(self) -> tuple[Path, ...]:
        """The whole topology."""
        return (("topology",),)

    def make(self, value: Value) -> Iterator[Objection]:
        """Replace the topology."""
        value["topology"] = {"reports_to": plain(self.reports_to), "output": self.output}
        return iter(())

    def to_json(self) -> dict[str, Any]:
        """Return the edit without an output that is not declared."""
        output = {"output": self.output} if self.output else {}
        return {"reports_to": plain(self.reports_to), **output}

    @classmethod
    def of(cls, written: Mapping[str, Any]) -> Self:
        """Build the edit."""
        reports_to = {item: tuple(others) for item, others in written["reports_to"].items()}
        return cls(reports_to=MappingProxyType(reports_to), output=written.get("output"))
