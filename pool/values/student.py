"""Student's t distribution, for means of few values."""

from __future__ import annotations

import functools
import math
import statistics
from collections.abc import Sequence


def t_interval(values: Sequence[float]) -> tuple[float, float] | None:
    """Return the 95 % interval of a mean by Student's t; None for fewer than two values."""
    if len(values) < 2:
        return None
    mean = statistics.fmean(values)
    reach = t_quantile(len(values) - 1) * statistics.stdev(values) / math.sqrt(len(values))
    return mean - reach, mean + reach


@functools.cache
def t_quantile(degrees: int, level: float = 0.95) -> float:
    """Return the value that |t| stays below with a probability, found by bisection.

    Args:
        degrees: The degrees of freedom, at least 1.
        level: The probability, from 0.95 to below 1.
    """
    low, high = 1.9, 13.0
    while _inside(high, degrees) < level:
        high *= 2
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (middle, high) if _inside(middle, degrees) < level else (low, middle)
    return low


def _inside(t: float, degrees: int) -> float:
    """Return the probability that |t| is below `t` (Abramowitz and Stegun 26.7.3-4)."""
    angle = math.atan2(t, math.sqrt(degrees))
    sine, cosine = math.sin(angle), math.cos(angle)
    odd = degrees % 2
    term, total = (cosine if odd else 1.0), 0.0
    for step in range(2 if odd else 1, degrees, 2):
        total += term
        term *= cosine**2 * step / (step + 1)
    if odd:
        return 2 / math.pi * (angle + sine * total)
    return sine * total
