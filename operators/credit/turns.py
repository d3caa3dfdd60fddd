"""Turns: how a run's score is distributed over turns and agents, and which utterances are kept.

All scores are in [0, 1], a judge's score of an utterance as well as the run's; so rewards are, too.
Where the paper's text leaves a choice open, the docstring states ours.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping
from typing import Any, Literal, TypeVar

HAIR = 1e-9
"""The tolerance for rounding errors when a share is rounded down."""


Player = TypeVar("Player", bound="Hashable")
Utterance = TypeVar("Utterance", bound="str | tuple[Any, ...]")


def decay_weights(
    turns: int, *, gamma: float, favour: Literal["later", "earlier"] = "later"
) -> tuple[float, ...]:
    """Return each turn's share of the run's score (MATTRL Eq. 10).

    The paper asks for a decay kernel over the actual number of turns T in which later turns weigh
    more for gamma < 1. That is `gamma^(T-t)`, normalised, because it distributes one score. If
    earlier turns should weigh more (App. C.1, teaching), the kernel is reversed: `gamma^(t-1)`.

    Args:
        gamma: The ratio of neighbouring weights, in [0, 1]. At 1 all turns weigh the same; at 0
            only the most favoured one counts.

    Returns:
        The weight of each turn, in order; they sum to 1.
    """
    kernel = [gamma**distance for distance in range(turns)]
    whole = math.fsum(kernel)
    weights = tuple(value / whole for value in kernel)
    return weights if favour == "earlier" else weights[::-1]


def ratios(worth: Mapping[Player, float]) -> dict[Player, float]:
    """Return each agent's share of a turn: its worth divided by the total (MATTRL Eq. 11, 16).

    The normalisation is proportional: `max(x_i, 0) / sum max(x_j, 0)`. An agent that did harm gets
    no share. The paper adds a constant to the sum to avoid a division by zero, so its shares sum to
    less than 1. Here they always sum to 1: if no agent has a positive worth, the shares are equal.

    Args:
        worth: The worth of each agent by any scheme; negative values count as 0.
    """
    gains = {player: max(value, 0.0) for player, value in worth.items()}
    whole = math.fsum(gains.values())
    if whole == 0:
        return dict.fromkeys(gains, 1 / max(len(gains), 1))
    return {player: gain / whole for player, gain in gains.items()}


def fused(individual: float, terminal_share: float, *, individual_weight: float) -> float:
    """Return an utterance's reward: its own score and its share of the run's (MATTRL Eq. 12).

    This is the weighted average that the paper uses for teaching (App. C.1: 0.4 and 0.6), with any
    weight: `w s + (1 - w) share`.

    Args:
        individual: The judge's score of the utterance, s (MATTRL Eq. 9), in [0, 1].
        terminal_share: The run's score, times the turn's weight, times the agent's ratio.
        individual_weight: The weight of `individual`, in [0, 1].
    """
    return individual_weight * individual + (1 - individual_weight) * terminal_share


def selected(
    rewards: Mapping[Utterance, float], *, share: float, threshold: float
) -> tuple[Utterance, ...]:
    """Return the utterances that are worth keeping (MATTRL Eq. 13, §4.1, App. B.7).

    The paper selects by a threshold, and also takes the top quarter of all utterances: here both
    conditions must hold. The share is rounded down, but allows at least one utterance. On equal
    rewards, the smaller key wins. So the share is met exactly, and neither chance nor the order of
    the mapping matters.

    Args:
        rewards: The reward of each utterance (MATTRL Eq. 12).
        share: The share of utterances that may be selected, in [0, 1]: 0.25 in the paper.

    Returns:
        The selected utterances, the best one first.
    """
    places = math.floor(share * len(rewards) + HAIR) or (1 if share > 0 else 0)
    ranked = sorted(sorted(rewards), key=rewards.__getitem__, reverse=True)
    return tuple(turn for turn in ranked[:places] if rewards[turn] > threshold)
