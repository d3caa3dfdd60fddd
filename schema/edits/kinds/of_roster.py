"""Edits of who is in the team."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from ...team.building import (
    agent_of,
    notes_of,
    readings_of,
    recruit_of,
    roster_of,
    rounds_of,
    when_of,
)
from ...team.conditions import Each, readings_following
from ...team.groups import GROUPING
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
"""What an edit that adds an agent says of its place."""


@dataclass(frozen=True, kw_only=True, slots=True)
class AddAgent(Kind):
    """Takes an agent into the team, with its edges.

    Attributes:
        before: The agent of the team that it stands ahead of in the file. None: it stands last.
        receives_from: Whose output it receives. An edge between two new agents is named by one.
        is_output: Whether its output is the team's answer from now on. Then whoever would report to
            nobody, as the agent whose output was the answer, reports to it.
    """

    component: ClassVar[Component] = "roster"

    agent: Agent
    before: str | None = None
    reports_to: tuple[str, ...] = ()
    receives_from: tuple[str, ...] = ()
    is_output: bool = False

    @property
    def claims(self) -> tuple[Path, ...]:
        """The id, all of the agent, and its edges."""
        new = self.agent.id
        sent = ((*EDGES, new, receiver) for receiver in self.reports_to)
        received = ((*EDGES, sender, new) for sender in self.receives_from)
        output: list[Path] = [("topology", "output")] if self.is_output else []
        return (("ids", new), ("agents", new), *sent, *received, *output)

    @classmethod
    def make_all(cls, value: Value, edits: Sequence[Self]) -> Iterator[Objection]:
        """Put all new agents where they stand, and then their edges."""
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
        """Return the agent as in a team file, and where it stands."""
        place = {name: plain(item) for name in PLACE if (item := getattr(self, name))}
        fields = {"agent": self.agent.id, "fields": agent_value(self.agent)}
        return {**fields, **({"place": place} if place else {})}

    @classmethod
    def of(cls, written: Mapping[str, Any]) -> Self:
        """Build it.

        Raises:
            ValueError: The agent is not written out.
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
    """Takes an agent out of the team, with its edges; where it was the output, that as well.

    Whoever would then report to nobody any more reports to the next agent that heard of its work
    through the one that went. What others have noted of it goes too.
    """

    component: ClassVar[Component] = "roster"

    agent: str

    @property
    def claims(self) -> tuple[Path, ...]:
        """The agent of the parent."""
        return (("parent", self.agent),)

    @classmethod
    def make_all(cls, value: Value, edits: Sequence[Self]) -> Iterator[Objection]:
        """Take all of them out at once."""
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
        """Offer those without whom the rest is a team."""
        if is_tied(offer.team) and (rest := spare_agents(offer.team, together=offer.together)):
            yield edit("remove_agent", agent=one_of(rest))


@dataclass(frozen=True, kw_only=True, slots=True)
class RenameAgent(Kind):
    """Gives an agent another id, in the topology and in notes as well. Two may swap theirs."""

    component: ClassVar[Component] = "roster"

    agent: str
    id: str

    @property
    def claims(self) -> tuple[Path, ...]:
        """The agent of the parent, and the new id."""
        return (("parent", self.agent), ("ids", self.id))

    @classmethod
    def make_all(cls, value: Value, edits: Sequence[Self]) -> Iterator[Objection]:
        """Give all of them their new ids at once."""
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
    """Says in which order the agents stand in the file. Nothing else depends on it."""

    component: ClassVar[Component] = "roster"

    agents: tuple[str, ...]

    @property
    def claims(self) -> tuple[Path, ...]:
        """The order."""
        return (("order",),)

    def make(self, value: Value) -> Iterator[Objection]:
        """Put the agents into that order, where it names each of them once."""
        if sorted(self.agents) == sorted(value["agents"]):
            value["agents"] = {agent: value["agents"][agent] for agent in self.agents}
        else:
            yield self, "agents", f"not each agent of the team once: {', '.join(value['agents'])}."


def _follow(value: Value, new_ids: Mapping[str, str | None]) -> None:
    """Have what names agents follow those who got other ids, and drop those who went."""
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
