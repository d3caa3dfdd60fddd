"""Counterparts: the agents of two teams in the same place, by id, by role, or by level."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import chain

from ....schema.team.team import Team


def counterparts(team: Team, donor: Team) -> Mapping[str, str]:
    """Return for each position of a team the agent of another team in the same place.

    The same id takes precedence, then the same role, then the same level: output, start, or
    between. If several agents match, they are assigned in turn: six workers may all match the
    donor's two. Positions without a counterpart are left out.
    """
    by_id = {agent_id: agent_id for agent_id in team.agents if agent_id in donor.agents}
    by_role = _matched(team, donor, _role)
    by_level = _matched(team, donor, _level)
    return {
        agent_id: fields[agent_id]
        for agent_id in team.agents
        for fields in [{**by_level, **by_role, **by_id}]
        if agent_id in fields
    }


def _matched(
    team: Team, donor: Team, place: Callable[[Team, str], str | None]
) -> Mapping[str, str]:
    """Match agents whose places have the same name, in turn."""
    there = _by_place(donor, place)
    return {
        agent_id: there[name][rank % len(there[name])]
        for name, ids in _by_place(team, place).items()
        if name in there
        for rank, agent_id in enumerate(ids)
    }


def _by_place(team: Team, place: Callable[[Team, str], str | None]) -> Mapping[str, list[str]]:
    fields: dict[str, list[str]] = {}
    for agent_id in chain.from_iterable(team.levels):
        if name := place(team, agent_id):
            fields.setdefault(name, []).append(agent_id)
    return fields


def _role(team: Team, agent_id: str) -> str | None:
    return team.agents[agent_id].role.strip().casefold() or None


def _level(team: Team, agent_id: str) -> str:
    if agent_id == team.output:
        return "output"
    return "between" if team.predecessors[agent_id] else "start"
