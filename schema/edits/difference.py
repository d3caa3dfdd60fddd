"""Finds the edits that lead from one team to another."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import replace
from typing import Any

from ..team.team import Agent, Team
from ..team.writing import team_value
from ._draft import draft, in_canonical_order
from .changes import FieldChange, agent_changes, changes, renamed_agents, same
from .kinds.kinds import (
    KINDS,
    AddAgent,
    AddEdge,
    AgentEdit,
    Edit,
    OrderAgents,
    RemoveAgent,
    RemoveEdge,
    RenameAgent,
    ReplaceTopology,
    RosterEdit,
    SetOutput,
    TopologyEdit,
)


def diff(before: Team, after: Team) -> tuple[Edit, ...]:
    """Return edits that lead from one team to another: few, and each changes something.

    `apply(before, diff(before, after))` is `after`, including the written order.
    """
    edits = [*_structure(before, after), *_making(changes(before, after))]
    return tuple(in_canonical_order(edits))


def agent_edits(before: Agent, after: Agent) -> tuple[AgentEdit, ...]:
    """Return the edits that give an agent the fields of another agent, whose id they name."""
    return tuple(_making(agent_changes(before, after)))


def _making(field_changes: Iterable[FieldChange]) -> Iterator[Any]:
    return (edit for change in field_changes for kind in KINDS for edit in kind.making(change))


def _structure(before: Team, after: Team) -> Sequence[RosterEdit | TopologyEdit]:
    """Return the edits of roster and topology.

    The edits change single edges, unless that takes more edits than the new topology has edges, or
    leads to another written order.
    """
    roster = _roster_edits(before, after)
    if _leads_to(after, before, roster):
        return roster
    new = {edit.agent.id for edit in roster if isinstance(edit, AddAgent)}
    joined = [_with_edges(edit, after, new) for edit in roster]
    edges = _edge_edits(before, joined, after)
    by_edge = [*joined, *edges]
    if len(edges) <= len(after.edges) and _leads_to(after, before, by_edge):
        return by_edge
    return [*roster, ReplaceTopology(reports_to=after.reports_to, output=after.declared_output)]


def _roster_edits(before: Team, after: Team) -> list[RosterEdit]:
    """Return the edits that add, remove and rename agents; new agents have no edges yet."""
    new_ids = renamed_agents(before, after)
    stay = [now for old in before.agents if (now := new_ids.get(old, old)) in after.agents]
    edits: list[RosterEdit] = [
        *(RenameAgent(agent=old, id=new) for old, new in new_ids.items()),
        *(RemoveAgent(agent=old) for old in before.agents if new_ids.get(old, old) not in stay),
    ]
    following: str | None = None
    for agent_id in reversed(tuple(after.agents)):
        if agent_id in stay:
            following = agent_id
        else:
            edits.append(AddAgent(agent=after.agents[agent_id], before=following))
    if list(draft(before, edits)[0]["agents"]) != list(after.agents):
        edits.append(OrderAgents(agents=tuple(after.agents)))
    return edits


def _with_edges(edit: RosterEdit, after: Team, new: Set[str]) -> RosterEdit:
    """Add the edges of a new agent; the sender names an edge between two new agents."""
    if not isinstance(edit, AddAgent):
        return edit
    agent_id = edit.agent.id
    senders = (sender for sender, receivers in after.reports_to.items() if agent_id in receivers)
    return replace(
        edit,
        reports_to=after.reports_to.get(agent_id, ()),
        receives_from=tuple(sender for sender in senders if sender not in new),
    )


def _edge_edits(before: Team, roster: Sequence[RosterEdit], after: Team) -> list[TopologyEdit]:
    topology = draft(before, roster, joined=False)[0].get("topology", {})
    there = [(u, v) for u, vs in topology.get("reports_to", {}).items() for v in vs]
    edits: list[TopologyEdit] = [
        *(RemoveEdge(sender=u, receiver=v) for u, v in there if (u, v) not in set(after.edges)),
        *(AddEdge(sender=u, receiver=v) for u, v in after.edges if (u, v) not in set(there)),
    ]
    if topology.get("output") != after.declared_output:
        edits.append(SetOutput(agent=after.declared_output))
    return edits


def _leads_to(after: Team, before: Team, edits: Sequence[Edit]) -> bool:
    """Return whether edits make the topology of a team, in the same written order."""
    return same(_topology(before, edits), team_value(after).get("topology", {}))


def _topology(team: Team, edits: Sequence[Edit]) -> dict[str, Any]:
    return draft(team, edits)[0].get("topology", {})
