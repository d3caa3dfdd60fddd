"""Schemes of credit: the coalitions that each needs, and how it uses their values (MATTRL §5.1)."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Generic, Literal, TypeVar

from .games import averaged, difference, orders, prefixes, shapley, subsets

MOST_EXACT = 6
"""The most players for exact Shapley values (64 coalitions); beyond it they are estimated."""

Player = TypeVar("Player", bound=Hashable)
Scheme = Literal["difference", "shapley"]
"""The schemes that need values of coalitions. The naive scheme asks a judge instead."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Credit:
    """The worth of a player.

    Attributes:
        worth: The part of the score that is due to it, in [-1, 1].
        error: The standard error of the worth; None if it is exact.
        interval: The 95 % interval of the true worth; None if it is exact.
    """

    worth: float
    error: float | None = None
    interval: tuple[float, float] | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Game(Generic[Player]):
    """A scheme for a set of players.

    Attributes:
        players: All players. The drawn orders depend on their order.
        permutations: The number of orders for estimated Shapley values; at least 2.
    """

    scheme: Scheme
    players: Sequence[Player]
    permutations: int = 20
    seed: int = 0

    @property
    def is_exact(self) -> bool:
        """Whether all values are exact."""
        return self.scheme == "difference" or len(self.players) <= MOST_EXACT

    @property
    def coalitions(self) -> tuple[frozenset[Player], ...]:
        """The coalitions whose values it needs, starting with all players together."""
        everybody = frozenset(self.players)
        if self.scheme == "difference":
            result = tuple(everybody - {player} for player in self.players)
        elif self.is_exact:
            result = subsets(self.players)
        else:
            result = prefixes(self._orders)
        return tuple(dict.fromkeys((everybody, *result)))

    def credits(self, value: Mapping[frozenset[Player], float]) -> Mapping[Player, Credit]:
        """Return the worth of each player.

        Args:
            value: The value of each of its coalitions, in [0, 1].
        """
        if not self.is_exact:
            estimates = averaged(value, self._orders)
            return {
                player: Credit(
                    worth=estimate.value, error=estimate.error, interval=estimate.interval()
                )
                for player, estimate in estimates.items()
            }
        exact = difference if self.scheme == "difference" else shapley
        return {
            player: Credit(worth=figure) for player, figure in exact(value, self.players).items()
        }

    @property
    def _orders(self) -> tuple[tuple[Player, ...], ...]:
        rng = Random(f"{self.seed}/shapley")  # noqa: S311 - it draws a sample
        return orders(self.players, permutations=self.permutations, rng=rng)
