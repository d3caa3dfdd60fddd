"""The choice of a team for a task: an anchor, a complement and scouts, in turn (EvoChamber §3.4).

These are pure functions of the population and of a seeded random generator, which breaks ties.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Mapping, Sequence

from ....pool.population.population import ANCHOR, Population, RankingScore, overlap
from ....schema.values.errors import InputError
from ....schema.values.terminal import counted
from .settings import PopulationSettings

COMPLEMENT = "complement"
SCOUT = "scout"


def seats(size: int) -> tuple[str, ...]:
    """Return the seats of a team: anchor, complement, scout, scout_2 and so on."""
    more = (f"{SCOUT}_{number}" for number in range(2, size - 1))
    return (ANCHOR, COMPLEMENT, SCOUT, *more)[:size]


def compose(
    population: Population,
    niche: str,
    size: int,
    settings: PopulationSettings,
    chance: random.Random,
) -> dict[str, str]:
    """Choose an agent for each seat, for a task of a niche (EvoChamber Eq. 3, 4 and 5).

    Args:
        niche: The task's niche; "" for a task without one.
        chance: Breaks ties, independently of the agents' order.

    Returns:
        Agents by seat, the anchor first.

    Raises:
        InputError: The team size is below 1, or exceeds the number of agents.
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
    """Return an agent's value as anchor: its competence in the niche (EvoChamber Eq. 3)."""
    return score.q(niche)


def as_complement(
    score: RankingScore,
    anchor: RankingScore,
    synergy: float,
    niche: str,
    settings: PopulationSettings,
) -> float:
    """Return an agent's value as complement (EvoChamber Eq. 4).

    It rises with competence and with synergy with the anchor, and falls with overlap.
    """
    return (
        settings.lambda_q * score.q(niche)
        + settings.lambda_sigma * synergy
        + settings.lambda_omega * (1 - overlap(score, anchor))
    )


def as_scout(
    score: RankingScore, chosen: Sequence[RankingScore], niche: str, settings: PopulationSettings
) -> float:
    """Return an agent's value as scout (EvoChamber Eq. 5).

    It is highest for agents that are new to the niche and unlike those already chosen.
    """
    alike = math.fsum(overlap(score, peer) for peer in chosen) / len(chosen)
    return settings.lambda_u / (1 + score.n(niche)) + settings.lambda_d * (1 - alike)


def _valued(
    chosen: Mapping[str, str],
    agents: Mapping[str, RankingScore],
    niche: str,
    settings: PopulationSettings,
) -> Callable[[str], float]:
    """Return the function that values agents for the next seat."""
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
    """Return the agent with the highest value; ties are broken at random, whatever their order."""
    most = max(values.values())
    return chance.choice(sorted(name for name, value in values.items() if value == most))
