"""Who an insight is for: knowledge flows from those who can to those who cannot (EvoChamber §3.5).

Strong agents give and weak ones take, so that specialists do not become alike. Pure functions of a
population as it is with the task's own trial taken in: before their first task all agents stand
alike, and nobody is below a median then.
"""

from __future__ import annotations

from statistics import fmean, median
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from .....pool.population.population import Population, RankingScore
    from ..settings import PopulationSettings
    from .ideas import Insight


def recipients(
    population: Population, insight: Insight, failed: Collection[str], settings: PopulationSettings
) -> tuple[str, ...]:
    """Say into whose archives an insight is written.

    Args:
        population: Who there is, with the task's own trial taken in.
        insight: What came of a dream.
        failed: The members of the team that failed at the task.
        settings: What `transfer`, `deficit` and `cross_domain` say.

    Returns:
        Agents that live, in the order of their births, never a giver that succeeded. Of an insight
        for the task those who failed at it; of others those who lack it, or everybody.
    """
    chosen = {*_audience(population, insight, failed, settings)}
    if insight.of.giver not in failed:
        chosen.discard(insight.of.giver)
    return tuple(agent for agent in population.agents if agent in chosen)


def _audience(
    population: Population, insight: Insight, failed: Collection[str], settings: PopulationSettings
) -> Collection[str]:
    is_open = insight.level == "cross_domain" and settings.cross_domain == "everybody"
    if is_open or settings.transfer == "symmetric":
        return population.agents
    if insight.level == "task":
        return failed
    if settings.deficit == "recent":
        initial = population.rates.initial
        return below({name: population.rolling.get(name, initial) for name in population.agents})
    lacking = below(_levels(population, insight))
    return lacking.union(failed) if settings.deficit == "niche_or_failed" else lacking


def below(levels: Mapping[str, float]) -> frozenset[str]:
    """Name those that are strictly below the median of all."""
    if not levels:
        return frozenset()
    middle = median(levels.values())
    return frozenset(name for name, level in levels.items() if level < middle)


def _levels(population: Population, insight: Insight) -> Mapping[str, float]:
    """Give everybody's competence, where the insight is to be of use."""
    agents = population.agents
    if insight.level == "cross_domain":
        return {name: _mean(agent, population.niches) for name, agent in agents.items()}
    return {name: agent.q(insight.niche or "") for name, agent in agents.items()}


def _mean(one: RankingScore, niches: Collection[str]) -> float:
    """Give an agent's mean competence over all niches that were met by anybody."""
    return fmean(one.q(niche) for niche in niches) if niches else one.rates.initial
