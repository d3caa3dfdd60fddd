"""Structures: the teams of a pool by which agents of its population can work (EvoChamber §3.4)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from ....schema.host.catalogue import Catalogue
from ....schema.team.team import Agent, Team
from ....schema.values.errors import InputError
from .compose import seats
from .seating import fits, seated
from .settings import PopulationSettings

LEADER = "leader"
"""What `structure` says where the anchor chooses."""


def structures(settings: PopulationSettings, teams: Iterable[Team]) -> dict[str, Team]:
    """Find the teams by whose structure a team of the population can work, by their names.

    A team whose agents are no seats is another one, and a structure that needs more seats than a
    team has is none for it.

    Args:
        settings: How large a team is; and which structure it has, where that is always one.
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
    """Yield a team of each structure as the first agents would make it; see `Strategy.teams`."""
    places = seats(settings.team_size)
    first = {seat: agents[number % len(agents)] for number, seat in enumerate(places)}
    for structure in structures(settings, teams).values():
        yield seated(structure, first, settings, catalogue).team
