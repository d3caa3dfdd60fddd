"""Edits of the team's roster."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from ...team.building import (
    GROUPING,
    agent_of,
    notes_of,
    readings_of,
    recruit_of,
    roster_of,
    rounds_of,
    when_of,
)
from ...team.conditions import Each, readings_following
from ...team.team import OF_OTHERS, Agent
from ...team.writing import agent_value
from ...values.problems import Path
from ...values.values import plain
from ..components import Component
from ..offer._offer import Offer
from ..offer._structure import is_tied, spare_agents
from ..offer.strict import Schema, edit, one_of
from ._edges import EDGES, insert_edge
from .kind import Kind, Objection, Value, id_in_use, no_agent, put

PLACE = ("before", "reports_to", "receives_from", "is_output")
"""The fields of `AddAgent` that describe the new agent's place."""


@dataclass(frozen=True, kw_only=True, slots=True)
class AddAgent(Kind):
    """Adds an agent to the team, with its edges.

    Attributes:
        before: The agent of the team before which it is written in the file. None: it is last.
        receives_from: The agents whose output it receives. Only one of two new agents names their
            edge.
        is_output: Whether its output becomes the team's answer. Then all agents without receivers,
            such as the former output, report to it.
    """

    component: ClassVar[Component] = "roster"

    agent: Agent
    before: str | None = None
    reports_to: tuple[str, ...] = ()
    receives_from: tuple[str, ...] = ()
    is_output: bool = False

    @property
    def claims(self) -> tuple[Path, ...]:
        """The id, the whole agent, and its edges."""
        new = self.agent.id
        sent = ((*EDGES, new, receiver) for receiver in self.reports_to)
        received = ((*EDGES, sender, new) for sender in self.receives_from)
        output: list[Path] = [("topology", "output")] if self.is_output else []
        return (("ids", new), ("agents", new), *sent, *received, *output)

    @classmethod
    def make_all(cls, value: Value, edits: Sequence[Self]) -> Iterator[Objection]:
        """Add all new agents at their places, then their edges."""
        old: Value = value["agents"]
        added: dict[str | None, list[Self]] = {}
        for item in edits:
            if item.agent.id in old:
                yield item, "agent", id_in_use(item.agent.id)
            elif item.before is not None and item.before not in old:
                yield item, "before", no_agent(item.before, value)
            else:
                added.setdefault(item.before, []).append(item)
        value["agents"] = {}
        for place in (*old, None):
            new = {entry.agent.id: agent_value(entry.agent) for entry in added.get(place, ())}
            value["agents"] |= new
            if place is not None:
                value["agents"][place] = old[place]
        for item in edits:
            for receiver in item.reports_to:
                insert_edge(value, item.agent.id, receiver)
            for sender in item.receives_from:
                insert_edge(value, sender, item.agent.id)

    def to_json(self) -> dict[str, Any]:
        """Return the agent as in a team file, and its place."""
        place = {name: plain(item) for name in PLACE if (item := getattr(self, name))}
        fields = {"agent": self.agent.id, "fields": agent_value(self.agent)}
        return {**fields, **({"place": place} if place else {})}

    @classmethod
    def of(cls, written: Mapping[str, Any]) -> Self:
        """Build the edit.

        Raises:
            ValueError: The agent uses a form that only files have, such as a group.
        """
        values: dict[str, Any] = {
            name: tuple(item) if isinstance(item, list) else item
            for name, item in written.get("place", {}).items()
        }
        if written["fields"].keys() & {"use", *GROUPING}:
            raise ValueError("a new agent is written out: no use, like or count.")
        return cls(agent=agent_of(written["agent"], written["fields"]), **values)

    @classmethod
    def offers(cls, offer: Offer) -> Iterator[Schema]:
        """Offer agents of every type, in any place."""
        if is_tied(offer.team):
            yield from offer.newcomers.offers()


@dataclass(frozen=True, kw_only=True, slots=True)
class RemoveAgent(Kind):
    """Removes an agent with its edges and its declaration as the output.

    An agent left without receivers then reports to the next agent downstream that heard its work
    through the removed one. Notes of others on the removed agent go too.
    """

    component: ClassVar[Component] = "roster"

    agent: str

    @property
    def claims(self) -> tuple[Path, ...]:
        """The agent of the parent."""
        return (("parent", self.agent),)

    @classmethod
    def make_all(cls, value: Value, edits: Sequence[Self]) -> Iterator[Objection]:
        """Remove all these agents at once."""
        removed = {item.agent for item in edits}
        for entry in edits:
            if entry.agent not in value["agents"]:
                yield entry, "agent", no_agent(entry.agent, value)
            value["agents"].pop(entry.agent, None)
        _follow(value, dict.fromkeys(removed))
        topology = value["topology"]
        topology["reports_to"] = {
            sender: [receiver for receiver in receivers if receiver not in removed]
            for sender, receivers in topology["reports_to"].items()
            if sender not in removed and not removed.issuperset(receivers)
        }
        if topology.get("output") in removed:
            del topology["output"]

    @classmethod
    def offers(cls, offer: Offer) -> Iterator[Schema]:
        """Offer each agent whose removal leaves a valid team."""
        if is_tied(offer.team) and (rest := spare_agents(offer.team, together=offer.together)):
            yield edit("remove_agent", agent=one_of(rest))


@dataclass(frozen=True, kw_only=True, slots=True)
class RenameAgent(Kind):
    """Gives an agent another id, also in topology and notes. Two agents may swap ids."""

    component: ClassVar[Component] = "roster"

    agent: str
    id: str

    @property
    def claims(self) -> tuple[Path, ...]:
        """The agent of the parent, and the new id."""
        return (("parent", self.agent), ("ids", self.id))

    @classmethod
    def make_all(cls, value: Value, edits: Sequence[Self]) -> Iterator[Objection]:
        """Rename all these agents at once."""
        new = {item.agent: item.id for item in edits}
        for entry in edits:
            if entry.agent not in value["agents"]:
                yield entry, "agent", no_agent(entry.agent, value)
            elif entry.id in value["agents"] and entry.id not in new:
                yield entry, "id", id_in_use(entry.id)
        value["agents"] = {new.get(old, old): fields for old, fields in value["agents"].items()}
        _follow(value, new)
        topology = value["topology"]
        topology["reports_to"] = {
            new.get(sender, sender): [new.get(receiver, receiver) for receiver in receivers]
            for sender, receivers in topology["reports_to"].items()
        }
        if output := topology.get("output"):
            topology["output"] = new.get(output, output)


@dataclass(frozen=True, kw_only=True, slots=True)
class OrderAgents(Kind):
    """Sets the order of the agents in the file. Nothing else depends on it."""

    component: ClassVar[Component] = "roster"

    agents: tuple[str, ...]

    @property
    def claims(self) -> tuple[Path, ...]:
        """The order."""
        return (("order",),)

    def make(self, value: Value) -> Iterator[Objection]:
        """Reorder the agents, or object if the edit does not list each agent once."""
        if sorted(self.agents) == sorted(value["agents"]):
            value["agents"] = {agent: value["agents"][agent] for agent in self.agents}
        else:
            yield self, "agents", f"not each agent of the team once: {', '.join(value['agents'])}."


def _follow(value: Value, new_ids: Mapping[str, str | None]) -> None:
    """Update every reference to renamed agents, and drop references to removed ones."""
    execution: Value = value["execution"]
    parts = (("recruit", recruit_of), ("rounds", rounds_of), ("roster", roster_of))
    for name, built in parts:
        if fields := execution.get(name):
            put(execution, name, plain(built(fields).following(new_ids)))
    for agent in value["agents"].values():
        if (noted := agent.get("notes")) and any(notes in noted for notes in OF_OTHERS):
            put(agent, "notes", plain(notes_of(noted).following(new_ids)) or None)
        if fields := agent.get("when"):
            put(agent, "when", plain(when_of(fields).following(new_ids)))
        if fields := agent.get("reads"):
            put(agent, "reads", plain(readings_following(readings_of(fields), new_ids)) or None)
        if fields := agent.get("each"):
            put(agent, "each", plain(Each(**fields).following(new_ids)))
