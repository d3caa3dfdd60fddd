"""The replicator: agents that contribute more than the mean gain weight (TacoMAS Eq. 2).

Weights say how the means of a team are shared out among its agents: here, how much of the coach's
budget and of the prompts' room for coaching each one gets.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping


def even(agents: Iterable[str]) -> Mapping[str, float]:
    """Give every agent the same weight; together they are 1."""
    known = [*agents]
    return {agent: 1 / len(known) for agent in known}


def replicated(
    weights: Mapping[str, float], contributions: Mapping[str, float], *, eta: float
) -> Mapping[str, float]:
    """Make one step of the replicator: `w_i <- w_i exp(eta (c_i - mean c))`, normalised.

    Args:
        weights: The weight of each agent, above 0; together they are 1.
        contributions: What each of them contributed, in [0, 1].
        eta: The strength of the update, at least 0.
    """
    mean = math.fsum(contributions.values()) / len(contributions)
    grown = {
        agent: weight * math.exp(eta * (contributions[agent] - mean))
        for agent, weight in weights.items()
    }
    return _normal(grown)


def joined(weights: Mapping[str, float], agents: Iterable[str]) -> Mapping[str, float]:
    """Give the weights after agents came and went.

    A newcomer begins with an even share. Those that stay share the rest as they did before.

    Args:
        agents: Who there is now.
    """
    known = [*agents]
    stay = {agent: weights[agent] for agent in known if agent in weights}
    if not stay:
        return even(known)
    left = len(stay) / len(known)
    kept = _normal(stay)
    return {agent: kept[agent] * left if agent in kept else 1 / len(known) for agent in known}


def _normal(weights: Mapping[str, float]) -> Mapping[str, float]:
    whole = math.fsum(weights.values())
    return {agent: weight / whole for agent, weight in weights.items()}
