"""Games: what players are worth, from what coalitions of them are worth.

A player is an agent, or one utterance of it; a coalition's value is the score of the run in which
all other players are silenced.
"""

from __future__ import annotations

import functools
import itertools
import math
import statistics
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import TypeVar

from ...pool.values.intervals import paired_interval

Player = TypeVar("Player", bound=Hashable)
Value = Mapping[frozenset[Player], float] | Callable[[frozenset[Player]], float]
"""What each coalition is worth. A function is asked once for each."""


@dataclass(frozen=True, kw_only=True, slots=True)
class CreditEstimate:
    """A worth that was estimated from a sample of orders.

    Attributes:
        gains: What the player added in each of them; at least two.
    """

    gains: tuple[float, ...]

    @property
    def value(self) -> float:
        """The mean."""
        return statistics.fmean(self.gains)

    @property
    def error(self) -> float:
        """The mean's standard error."""
        return statistics.stdev(self.gains) / math.sqrt(len(self.gains))

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """Return the interval of the worth, of gains that are in [-1, 1].

        A few orders may all show the same gain where another would not. So it is the interval of
        paired differences, which is never of zero width; a normal one holds the truth too seldom.

        Args:
            level: The chance with which it is to hold the true worth, from 0.95 to below 1.
        """
        return paired_interval(self.gains, level=level)


def difference(value: Value[Player], players: Iterable[Player]) -> dict[Player, float]:
    """Return what is lost without each player: `v(N) - v(N - i)` (MATTRL Eq. 17).

    The counterfactual has one player neutralised while the others remain.

    Args:
        value: The score of all players together, and of all but each one.
    """
    members = [*players]
    whole, worth = frozenset(members), _worth(value)
    return {player: worth(whole) - worth(whole - {player}) for player in members}


def shapley(value: Value[Player], players: Iterable[Player]) -> dict[Player, float]:
    """Return each player's exact Shapley value (MATTRL Eq. 18).

    What a player adds to those before it, averaged over all n! orders: as many of them have the
    same players S before it as make this the sum over all S without it of
    `|S|! (n - |S| - 1)! / n! (v(S + i) - v(S))`.

    Args:
        value: The score of each of the 2^n coalitions.
    """
    members = [*players]
    worth = _worth(value)
    return {player: math.fsum(_weighted(worth, player, members)) for player in members}


def _weighted(
    worth: Callable[[frozenset[Player]], float], player: Player, players: Sequence[Player]
) -> Iterator[float]:
    for before in subsets(item for item in players if item != player):
        chance = 1 / (len(players) * math.comb(len(players) - 1, len(before)))
        yield chance * (worth(before | {player}) - worth(before))


def averaged(
    value: Value[Player], drawn: Sequence[Sequence[Player]]
) -> dict[Player, CreditEstimate]:
    """Estimate each player's Shapley value from random orders (MATTRL Eq. 18, §5.1).

    That is the mean of what it adds to those before it. Within each order the gains sum to
    `v(N) - v({})`, so the estimates do.

    Args:
        value: The score of each coalition that an order begins with.
        drawn: The orders, at least 2, each as likely as any other and independent of the rest.
    """
    worth = _worth(value)
    gains: dict[Player, list[float]] = {player: [] for player in drawn[0]}
    for order in drawn:
        for place, player in enumerate(order):
            before = frozenset(order[:place])
            gains[player].append(worth(before | {player}) - worth(before))
    return {player: CreditEstimate(gains=tuple(gain)) for player, gain in gains.items()}


def orders(
    players: Iterable[Player], *, permutations: int, rng: Random
) -> tuple[tuple[Player, ...], ...]:
    """Draw orders of players, each as likely as any other and independent of the rest.

    Args:
        players: All players. What is drawn depends on the order in which they come.
    """
    members = [*players]
    return tuple(tuple(rng.sample(members, len(members))) for _ in range(permutations))


def prefixes(drawn: Iterable[Sequence[Player]]) -> tuple[frozenset[Player], ...]:
    """Return the coalitions that orders begin with, nobody and all included, each once."""
    begun = (frozenset(order[:place]) for order in drawn for place in range(len(order) + 1))
    return tuple(dict.fromkeys(begun))


def subsets(players: Iterable[Player]) -> tuple[frozenset[Player], ...]:
    """Return all coalitions of players, from nobody to all."""
    members = [*players]
    sizes = (itertools.combinations(members, size) for size in range(len(members) + 1))
    return tuple(frozenset(item) for item in itertools.chain.from_iterable(sizes))


def _worth(value: Value[Player]) -> Callable[[frozenset[Player]], float]:
    return value.__getitem__ if isinstance(value, Mapping) else functools.cache(value)
