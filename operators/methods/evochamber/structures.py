"""Structures: the teams of a pool that agents of its population can fill (EvoChamber §3.4)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from ....schema.host.catalogue import Catalogue
from ....schema.team.team import Agent, Team
from ....schema.values.errors import InputError
from .compose import seats
from .seating import fits, seated
from .settings import PopulationSettings

LEADER = "leader"
"""The value of `structure` that lets the anchor choose."""


def structures(settings: PopulationSettings, teams: Iterable[Team]) -> dict[str, Team]:
    """Return the structures that a team of the population can work in, by name.

    Teams whose agents are not seats are left out, and so are structures that need more seats than a
    team has.

    Args:
        settings: The size of a team, and the name of the only allowed structure, if any.
    """
    wanted = (team for team in teams if settings.structure in (LEADER, team.name))
    return {team.name: team for team in wanted if _works(team, settings.team_size)}


def _works(team: Team, size: int) -> bool:
    try:
        return fits(team, seats(size))
    except InputError:
        return False


def build_structures(
    settings: PopulationSettings,
    teams: Sequence[Team],
    agents: Sequence[Agent],
    catalogue: Catalogue,
) -> Iterator[Team]:
    """Yield a team of each structure, filled with the first agents; see `Strategy.teams`."""
    places = seats(settings.team_size)
    first = {seat: agents[number % len(agents)] for number, seat in enumerate(places)}
    for structure in structures(settings, teams).values():
        yield seated(structure, first, settings, catalogue).team
