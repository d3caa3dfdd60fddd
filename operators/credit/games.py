"""Games: the worth of players, from the values of their coalitions.

A player is an agent, or one of its utterances. The value of a coalition is the score of the run in
which all other players are silenced.
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
"""The value of each coalition. A function is called once for each."""


@dataclass(frozen=True, kw_only=True, slots=True)
class CreditEstimate:
    """A worth that is estimated from a sample of orders.

    Attributes:
        gains: The player's gain in each order; at least two.
    """

    gains: tuple[float, ...]

    @property
    def value(self) -> float:
        """The mean."""
        return statistics.fmean(self.gains)

    @property
    def error(self) -> float:
        """The standard error of the mean."""
        return statistics.stdev(self.gains) / math.sqrt(len(self.gains))

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """Return the confidence interval of the worth, for gains in [-1, 1].

        A few orders may all show the same gain, although another would not. So this is the interval
        of paired differences, which never has zero width; a normal one covers the truth too rarely.

        Args:
            level: The probability that it covers the true worth, at least 0.95 and below 1.
        """
        return paired_interval(self.gains, level=level)


def difference(value: Value[Player], players: Iterable[Player]) -> dict[Player, float]:
    """Return the loss without each player: `v(N) - v(N - i)` (MATTRL Eq. 17).

    In the counterfactual, one player is silenced and the others remain.

    Args:
        value: The score of all players together, and of all but each one.
    """
    members = [*players]
    whole, worth = frozenset(members), _worth(value)
    return {player: worth(whole) - worth(whole - {player}) for player in members}


def shapley(value: Value[Player], players: Iterable[Player]) -> dict[Player, float]:
    """Return each player's exact Shapley value (MATTRL Eq. 18).

    It is the mean, over all n! orders, of a player's gain over the players before it. Grouped by
    the set S of those players, it equals the sum over all S without player i of `|S|! (n - |S| -
    1)! / n! (v(S + i) - v(S))`.

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

    The estimate is a player's mean gain over the players before it. Within each order the gains sum
    to `v(N) - v({})`, and so do the estimates.

    Args:
        value: The score of each coalition that starts an order.
        drawn: At least 2 orders, drawn uniformly and independently.
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
    """Draw orders of players, uniformly and independently.

    Args:
        players: All players. The drawn orders depend on the order of this argument.
    """
    members = [*players]
    return tuple(tuple(rng.sample(members, len(members))) for _ in range(permutations))


def prefixes(drawn: Iterable[Sequence[Player]]) -> tuple[frozenset[Player], ...]:
    """Return all prefixes of orders as coalitions, each once, including the empty and full ones."""
    begun = (frozenset(order[:place]) for order in drawn for place in range(len(order) + 1))
    return tuple(dict.fromkeys(begun))


def subsets(players: Iterable[Player]) -> tuple[frozenset[Player], ...]:
    """Return all coalitions of players, from the empty to the full one."""
    members = [*players]
    sizes = (itertools.combinations(members, size) for size in range(len(members) + 1))
    return tuple(frozenset(item) for item in itertools.chain.from_iterable(sizes))


def _worth(value: Value[Player]) -> Callable[[frozenset[Player]], float]:
    return value.__getitem__ if isinstance(value, Mapping) else functools.cache(value)
