"""Seats: the places in a structure, which agents of a population take.

A structure is a team of the pool that never runs by itself: its scores belong to the agents that
took its seats. In a pool with working agents, the best team is the population.
"""

from __future__ import annotations

import re

from ...schema.team.team import Team
from ..teams.pool import Pool
from .population import ANCHOR

_SEAT = re.compile(r"(anchor|complement|scout(?:_(?:[2-9]|[1-9]\d+))?)(?:_[a-z][a-z0-9_]*)?")


def seat_of(position: str) -> str | None:
    """Return the seat of an agent's id; None if it is no seat."""
    match = _SEAT.fullmatch(position)
    return match[1] if match else None


def is_structure(team: Team) -> bool:
    """Return whether all agents of a team, except functions, are seats."""
    seats = {seat_of(name) for name, agent in team.agents.items() if team.asks_model(agent)}
    return ANCHOR in seats and None not in seats


def structures_of(pool: Pool) -> frozenset[str]:
    """Return the teams of a pool whose seats its agents take; empty without agents.

    A team whose file is lost does not count.
    """
    if not pool.all_agents:
        return frozenset()
    return frozenset(
        name
        for name, member in pool.teams.items()
        if member.is_readable and is_structure(member.team)
    )
