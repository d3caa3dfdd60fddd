"""Anytime-valid intervals of a mean, by betting.

A gambler bets on each score that the mean is above, or below, some value. If the value is right,
the bets are fair, so the fortune ever exceeds 1 / alpha with a probability of at most alpha
(Ville). The interval consists of the values at which no gambler has become that rich (Waudby-Smith
and Ramdas 2024, the hedged capital process).

`confseq` 0.0.11 implements the same as C++ source. A user would need a compiler for it, and get
matplotlib, scipy, pandas and pytest beside it; this takes seventy lines.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

CELLS = 100
"""The number of values of the mean that are bet against."""
MOST_STAKE = 0.5
"""The share of a fortune that one score may lose. More would risk ruin by a single surprise."""


@dataclass(kw_only=True)
class Bets:
    """The fortunes of bets against each possible mean of differences in [-1, 1].

    Attributes:
        alpha: The probability that the interval ever misses the true mean.
        slots: The number of differences, unknown ones included.
    """

    alpha: float = 0.05
    slots: int = 0
    _above: list[float] = field(default_factory=lambda: [0.0] * (CELLS + 1))
    _below: list[float] = field(default_factory=lambda: [0.0] * (CELLS + 1))
    _n: int = 0
    _sum: float = 0.5
    _squares: float = 0.25

    def take(self, difference: float | None) -> None:
        """Settle the bets on a difference, in [-1, 1]; stakes depend on earlier differences only.

        Args:
            difference: The difference; None if it is unknown: no bet is settled.
        """
        self.slots += 1
        if difference is None:
            return
        score = (difference + 1) / 2
        stake = self._stake()
        for cell in range(CELLS + 1):
            mean = cell / CELLS
            up = min(stake, MOST_STAKE / mean) if mean else stake
            down = min(stake, MOST_STAKE / (1 - mean)) if mean < 1 else stake
            self._above[cell] += math.log1p(up * (score - mean))
            self._below[cell] += math.log1p(-down * (score - mean))
        self._n += 1
        self._sum += score
        self._squares += (score - self._sum / (self._n + 1)) ** 2

    def _stake(self) -> float:
        n = self._n + 1
        variance = self._squares / n
        return math.sqrt(2 * math.log(2 / self.alpha) / (variance * n * math.log(n + 1)))

    @property
    def interval(self) -> tuple[float, float]:
        """The interval of the mean difference, in [-1, 1], valid at any moment."""
        rich = math.log(2 / self.alpha)
        cells = range(CELLS + 1)
        low = max((c for c in cells if self._above[c] >= rich), default=-1) + 1
        high = min((c for c in cells if self._below[c] >= rich), default=CELLS + 1) - 1
        low, high = min(low, CELLS), max(high, 0)
        return round(2 * max(0, low - 1) / CELLS - 1, 2), round(
            2 * min(CELLS, high + 1) / CELLS - 1, 2
        )
