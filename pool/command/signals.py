"""What became of a population, as plain values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from ..population.evolutions import EvolutionUsage
from ..population.population import RankingScore
from ..population.signals import Signals, by_chance, specialization
from ..teams.pool import Pool


def signals_value(pool: Pool, of: Signals, window: int) -> dict[str, Any]:
    """Give all that became of a population, over windows of so many tasks."""
    population = of.population
    return {
        "rates": asdict(population.rates),
        "tasks": population.trials,
        "mean": population.mean,
        "agents": [
            _agent(pool, of, name, standing) for name, standing in population.everybody.items()
        ],
        "niches": {niche: _niche(of, niche) for niche in of.niches},
        "score": _accuracy(of, None),
        "specialization": index_value(of, window),
        "concentration": index_value(of, window, by_niche=False),
        "anchors": [worked.anchor for worked in of.worked],
        "unique_anchors": len({worked.anchor for worked in of.worked}),
        "flow": [
            {"giver": giver, "recipient": recipient, "entries": number}
            for (giver, recipient), number in of.flow.items()
        ],
        "lifecycle": [{"tasks": one.tasks, **one.about} for one in of.lifecycle],
        "dreams": [{"tasks": dream.tasks, **dream.about} for dream in of.dreams],
    }


def _agent(pool: Pool, of: Signals, name: str, one: RankingScore) -> dict[str, Any]:
    agent = pool.agent(name)
    return {
        "agent": name,
        "operator": agent.born.operator,
        "parents": agent.born.parents,
        "retired": agent.retired,
        "tasks": one.total,
        "competence": {
            niche: {"q": one.q(niche), "n": one.n(niche), "led": one.anchored.get(niche, 0)}
            for niche in best_of(one)
        },
        "rolling": one.rolling,
        "lagging": one.lagging,
        "dominant": one.dominant,
        "own": of.own.get(name, 0),
        "given": of.given.get(name, 0),
        "received": of.received.get(name, 0),
    }


def _niche(of: Signals, niche: str) -> dict[str, Any]:
    return {
        **_accuracy(of, niche),
        "anchors": of.anchors[niche],
        "structures": of.structures[niche],
    }


def _accuracy(of: Signals, niche: str | None) -> dict[str, Any]:
    mean, interval = of.accuracy(niche)
    return {"n": len(of.of(niche)), "mean": mean, "interval": interval}


def index_value(of: Signals, window: int, *, by_niche: bool = True) -> dict[str, Any]:
    """Give how far leading has become a matter of the niche; or else of few hands."""
    index = specialization(of.worked, window, by_niche=by_niche)
    return {
        "window": min(window, len(of.worked)),
        "index": index,
        "mean": sum(index) / len(index) if index else None,
        "max": max(index, default=None),
        "by_chance": by_chance(of.worked, window, by_niche=by_niche),
    }


def tokens_value(spent: EvolutionUsage | None, single: float | None) -> dict[str, float] | None:
    """Give tokens per task, and how many times a single agent's that is."""
    if spent is None:
        return None
    parts = {"runs": spent.runs, "operators": spent.operators, "judging": spent.judging}
    each = {name: usage.tokens / spent.tasks for name, usage in parts.items()}
    factor = {} if single is None else {"single": single, "factor": spent.each / single}
    return {"all": spent.each, **each, **factor}


def best_of(one: RankingScore) -> Sequence[str]:
    """Give the niches of an agent, those first in which it worked most."""
    return sorted(one.competence, key=lambda niche: (-one.n(niche), -one.q(niche), niche))
