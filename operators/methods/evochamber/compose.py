"""Who works on a task: an anchor, a complement and scouts, chosen one at a time (EvoChamber §3.4).

Pure functions of the population and of one seeded chance, which draws among equals.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Mapping, Sequence

from ....pool.population.population import ANCHOR, Population, RankingScore, overlap
from ....runtime.values.terminal import counted
from ....schema.values.errors import InputError
from .settings import PopulationSettings

COMPLEMENT = "complement"
SCOUT = "scout"


def seats(size: int) -> tuple[str, ...]:
    """Name the seats of a team: anchor, complement, scout, scout_2 and so on."""
    more = (f"{SCOUT}_{number}" for number in range(2, size - 1))
    return (ANCHOR, COMPLEMENT, SCOUT, *more)[:size]


def compose(
    population: Population,
    niche: str,
    size: int,
    settings: PopulationSettings,
    chance: random.Random,
) -> dict[str, str]:
    """Choose who works on a task of a niche, each for a seat (EvoChamber Eq. 3, 4 and 5).

    Args:
        niche: The task's niche; "" where it has none.
        settings: The weights, and the selector: by niche, or at random.
        chance: Draws among those who are equally good, in whatever order they come.

    Returns:
        Agents by seat, the anchor first.

    Raises:
        InputError: A team has nobody, or there are fewer agents than seats.
    """
    agents = population.agents
    if not 1 <= size <= len(agents):
        raise InputError(
            f"team_size: a team of {size} cannot be made of {counted(len(agents), 'agent')}. Let it"
            " be from 1 to as many as there are, or the population be larger."
        )
    if settings.selector == "random":
        return dict(zip(seats(size), chance.sample(sorted(agents), size), strict=True))
    chosen: dict[str, str] = {}
    for seat in seats(size):
        value = _valued(chosen, agents, niche, settings)
        chosen[seat] = _best(
            {name: value(name) for name in agents.keys() - chosen.values()}, chance
        )
    return chosen


def as_anchor(score: RankingScore, niche: str) -> float:
    """Value an agent as anchor: its competence in the niche (EvoChamber Eq. 3)."""
    return score.q(niche)


def as_complement(
    score: RankingScore,
    anchor: RankingScore,
    synergy: float,
    niche: str,
    settings: PopulationSettings,
) -> float:
    """Value an agent as complement: able, tried beside the anchor, unlike it (EvoChamber Eq. 4)."""
    return (
        settings.lambda_q * score.q(niche)
        + settings.lambda_sigma * synergy
        + settings.lambda_omega * (1 - overlap(score, anchor))
    )


def as_scout(
    score: RankingScore, chosen: Sequence[RankingScore], niche: str, settings: PopulationSettings
) -> float:
    """Value an agent as scout: new to the niche, and unlike those chosen (EvoChamber Eq. 5)."""
    alike = math.fsum(overlap(score, peer) for peer in chosen) / len(chosen)
    return settings.lambda_u / (1 + score.n(niche)) + settings.lambda_d * (1 - alike)


def _valued(
    chosen: Mapping[str, str],
    agents: Mapping[str, RankingScore],
    niche: str,
    settings: PopulationSettings,
) -> Callable[[str], float]:
    """Return what agents are valued by for the next seat."""
    if not chosen:
        return lambda name: as_anchor(agents[name], niche)
    if len(chosen) > 1:
        others = [agents[name] for name in chosen.values()]
        return lambda name: as_scout(agents[name], others, niche, settings)
    leader = chosen[ANCHOR]

    def complement(name: str) -> float:
        synergy = agents[name].sigma(leader, niche)
        return as_complement(agents[name], agents[leader], synergy, niche, settings)

    return complement


def _best(values: Mapping[str, float], chance: random.Random) -> str:
    """Return who is valued most, drawn among equals whatever the order in which they come."""
    most = max(values.values())
    return chance.choice(sorted(name for name, value in values.items() if value == most))
