"""Applies edits to a team's plain value, kind by kind."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import replace
from typing import Any

from ..team.team import Team, natural
from ..team.writing import team_value
from .kinds._edges import insert_edge
from .kinds.kind import Objection, Value
from .kinds.kinds import KINDS, AddAgent, Edit, RemoveAgent, RenameAgent, ReplaceTopology


def join_ends(team: Team, value: Value, edits: Sequence[Edit]) -> None:
    """Reconnect the agents that removals cut off, then connect all ends to a new output.

    A replaced topology is complete, so nothing is reconnected to it.
    """
    if not any(isinstance(edit, ReplaceTopology) for edit in edits):
        _join_cut_off(team, value, edits)
    for edit in edits:
        if isinstance(edit, AddAgent) and edit.is_output:
            _make_output(value, edit.agent.id)


def join_rounds(value: Value, edits: Sequence[Edit]) -> None:
    """Add new agents to the opening and closing passes of the agents that they connect to.

    A new agent opens if an opening agent or the recruiter hears it. It closes if it hears a closing
    agent, or if it is the output where others close.
    """
    rounds: Value = value["execution"].get("rounds") or {}
    newcomers = [edit.agent.id for edit in edits if isinstance(edit, AddAgent)]
    reports_to: Mapping[str, Sequence[str]] = value["topology"]["reports_to"]
    opening, closing = list(rounds.get("opening", ())), list(rounds.get("closing", ()))
    recruits = [recruit["by"]] if (recruit := value["execution"].get("recruit")) else []
    for _ in newcomers if rounds else ():
        opens = {
            newcomer
            for newcomer in newcomers
            if {*opening, *recruits} & {*reports_to.get(newcomer, ())}
        }
        opening += [
            newcomer for newcomer in newcomers if newcomer in opens and newcomer not in opening
        ]
        receivers = {receiver for closer in closing for receiver in reports_to.get(closer, ())}
        receivers |= {value["topology"].get("output")} if closing else set()
        closing += [
            newcomer for newcomer in newcomers if newcomer in receivers and newcomer not in closing
        ]
    for name, agents in (("opening", opening), ("closing", closing)):
        if agents:
            value["execution"]["rounds"] = {**value["execution"]["rounds"], name: agents}


def _join_cut_off(team: Team, value: Value, edits: Sequence[Edit]) -> None:
    """Connect agents whose receivers were all removed to the next remaining agent downstream.

    An agent with another receiver, or the current output, is not cut off.
    """
    removed = {edit.agent for edit in edits if isinstance(edit, RemoveAgent)}
    new_ids = {edit.agent: edit.id for edit in edits if isinstance(edit, RenameAgent)}
    for old, receivers in team.reports_to.items():
        sender = new_ids.get(old, old)
        if old in removed or removed.isdisjoint(receivers):
            continue
        if value["topology"]["reports_to"].get(sender) or value["topology"].get("output") == sender:
            continue
        heir = _heir(team, receivers, removed)
        if heir is not None:
            insert_edge(value, sender, new_ids.get(heir, heir))


def _heir(team: Team, receivers: Sequence[str], removed: Set[str]) -> str | None:
    """Return the nearest remaining agent downstream."""
    waiting = list(receivers)
    for name in waiting:
        if name not in removed:
            return name
        waiting += [parent for parent in team.reports_to.get(name, ()) if parent not in waiting]
    return None


def _make_output(value: Value, agent_id: str) -> None:
    """Make an agent the output, and let every agent without receivers report to it."""
    reports_to: Mapping[str, Sequence[str]] = value["topology"]["reports_to"]
    for agent in value["agents"]:
        if agent != agent_id and not reports_to.get(agent):
            insert_edge(value, agent, agent_id)
            reports_to = value["topology"]["reports_to"]
    value["topology"]["output"] = agent_id


def draft(
    team: Team, edits: Sequence[Edit], *, joined: bool = True
) -> tuple[Value, list[Objection]]:
    """Apply edits to a copy of a team's plain value.

    Args:
        edits: Edits of which no two decide the same thing. Their order does not matter.
        joined: Whether to connect agents that removals cut off to agents further down.

    Returns:
        The value, which may not load, and an objection for each edit that does not fit it.
    """
    value = {"execution": {}, **team_value(replace(team, lineage=None))}
    value["topology"] = {"reports_to": {}, **value.get("topology", {})}
    ordered = in_canonical_order(edits)
    objections: list[Objection] = []
    for kind in KINDS:
        chosen: Any = [edit for edit in ordered if type(edit) is kind]
        objections += kind.make_all(value, chosen) if chosen else ()
    if joined:
        join_ends(team, value, ordered)
    join_rounds(value, ordered)
    value["topology"] = {key: item for key, item in value["topology"].items() if item}
    empty = {key for key in ("topology", "execution") if not value[key]}
    return {key: item for key, item in value.items() if key not in empty}, objections


def in_canonical_order(edits: Sequence[Edit]) -> list[Edit]:
    """Sort edits as they are applied and written: by kind, then by the thing they decide."""

    def key(edit: Edit) -> tuple[Any, ...]:
        return KINDS.index(type(edit)), [natural(str(part)) for part in edit.claims[0]]

    return sorted(edits, key=key)
