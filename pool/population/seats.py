"""Seats: the places in a structure, which agents of a population take.

A structure is a team of the pool, and none that runs by itself: what it scored, the agents did who
took its seats. The best of a pool whose agents work is its population.
"""

from __future__ import annotations

import re

from ...schema.team.team import Team
from ..teams.pool import Pool
from .population import ANCHOR

_SEAT = re.compile(r"(anchor|complement|scout(?:_(?:[2-9]|[1-9]\d+))?)(?:_[a-z][a-z0-9_]*)?")


def seat_of(position: str) -> str | None:
    """Name the seat of a position by its id; None: it is none."""
    match = _SEAT.fullmatch(position)
    return match[1] if match else None


def is_structure(team: Team) -> bool:
    """Return whether all agents of a team are seats, but those that are functions."""
    seats = {seat_of(name) for name, agent in team.agents.items() if team.asks_model(agent)}
    return ANCHOR in seats and None not in seats


def structures_of(pool: Pool) -> frozenset[str]:
    """Name the teams of a pool in which its agents take seats; none, where it has no agents.

    A team whose file is lost is none.
    """
    if not pool.all_agents:
        return frozenset()
    return frozenset(
        name
        for name, member in pool.teams.items()
        if member.is_readable and is_structure(member.team)
    )
