"""Which agent of one team stands where an agent of another does: by id, by role, by level."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import chain

from ....schema.team.team import Team


def counterparts(team: Team, donor: Team) -> Mapping[str, str]:
    """Find for each position of a team the agent of another that stands in the same place.

    The same id comes first, then the same role, then the same level: the output, those that start,
    those between. Of several, the first position gets the first, and so on round: six workers may
    all stand where two do. A position without a counterpart is not there.
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
    """Match agents whose place has the same name, one after the other."""
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
