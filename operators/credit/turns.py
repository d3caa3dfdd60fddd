"""Turns: how a run's score is shared out over turns and agents, and which utterances are kept.

All scores are in [0, 1], a judge's of an utterance as the run's, so rewards are. Where the paper's
words leave a choice open, the docstring says what was chosen.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping
from typing import Any, Literal, Protocol, TypeVar

HAIR = 1e-9
"""What a share of a number may lack of a whole one by rounding alone."""


class Ordered(Protocol):
    """A key that has an order among its like, such as the pair of an agent's id and a round."""

    def __lt__(self, other: Any, /) -> bool:
        """Whether it comes first."""
        ...

    def __hash__(self) -> int:
        """As for any key."""
        ...


Player = TypeVar("Player", bound="Hashable")
Utterance = TypeVar("Utterance", bound=Ordered)


def decay_weights(
    turns: int, *, gamma: float, favour: Literal["later", "earlier"] = "later"
) -> tuple[float, ...]:
    """Give each turn its share of the run's score (MATTRL Eq. 10).

    A decay kernel over the actual number of turns T, under which later turns weigh more where
    gamma < 1, is `gamma^(T-t)`; it is normalised, for it allocates one score. Where earlier turns
    are to weigh more (App. C.1, teaching), it is the same kernel backwards: `gamma^(t-1)`.

    Args:
        gamma: How much less a turn weighs than its neighbour, in [0, 1]. At 1 all weigh the same,
            at 0 only the one that is favoured most does.

    Returns:
        The weight of each turn, the first one first; they sum to 1.
    """
    kernel = [gamma**distance for distance in range(turns)]
    whole = math.fsum(kernel)
    weights = tuple(value / whole for value in kernel)
    return weights if favour == "earlier" else weights[::-1]


def ratios(worth: Mapping[Player, float]) -> dict[Player, float]:
    """Give each agent its share of a turn: what it is worth, of what all are (MATTRL Eq. 11, 16).

    Proportional normalisation: `max(x_i, 0) / sum max(x_j, 0)`. Who made things worse gets no
    share. The paper adds a constant to the sum against a division by zero; then shares sum to less
    than 1. Here they always sum to 1: where nobody is worth anything, the shares are even.

    Args:
        worth: What each was worth by any scheme; at most 0 counts as nothing.
    """
    gains = {player: max(value, 0.0) for player, value in worth.items()}
    whole = math.fsum(gains.values())
    if whole == 0:
        return dict.fromkeys(gains, 1 / max(len(gains), 1))
    return {player: gain / whole for player, gain in gains.items()}


def fused(individual: float, terminal_share: float, *, individual_weight: float) -> float:
    """Give an utterance its reward: its own score and its share of the run's (MATTRL Eq. 12).

    The weighted average that the paper has for teaching (App. C.1: 0.4 and 0.6), with any weight:
    `w s + (1 - w) share`.

    Args:
        individual: The judge's score of the utterance, s (MATTRL Eq. 9), in [0, 1].
        terminal_share: The run's score, times the turn's weight, times the agent's ratio.
        individual_weight: The weight of the first, in [0, 1].
    """
    return individual_weight * individual + (1 - individual_weight) * terminal_share


def selected(
    rewards: Mapping[Utterance, float], *, share: float, threshold: float
) -> tuple[Utterance, ...]:
    """Select the utterances that are worth keeping (MATTRL Eq. 13, §4.1, App. B.7).

    The paper selects by a threshold, and takes the top quarter of all utterances: here both must
    hold. The share of all rewards is rounded down, but at least one is selected. Of utterances
    with the same reward, the one whose key comes first does. So the share is met exactly, and
    neither chance nor the order of the mapping decides.

    Args:
        rewards: The reward of each utterance (MATTRL Eq. 12).
        share: Which share of all rewards is good enough, in [0, 1]: 0.25 in the paper.

    Returns:
        Which are selected, the best one first.
    """
    places = math.floor(share * len(rewards) + HAIR) or (1 if share > 0 else 0)
    ranked = sorted(sorted(rewards), key=rewards.__getitem__, reverse=True)
    return tuple(turn for turn in ranked[:places] if rewards[turn] > threshold)
