"""The interval of a mean that is adjusted by another score, which is known on more tasks.

There are two uses. The last word of a race knows the original's scores on tasks where the winner
did not run; a judge scores tasks without a reference answer (prediction-powered inference,
Angelopoulos et al. 2023, with the weight that makes the interval shortest; arXiv 2601.21471). If
the other score does not predict the mean's, its weight is near 0.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import fmean, variance

from .intervals import Interval
from .student import t_quantile


def adjusted_interval(
    differences: Sequence[float],
    beside: Sequence[float],
    more: Sequence[float],
    *,
    level: float = 0.95,
) -> tuple[float, Interval]:
    """Return the mean difference, adjusted by another score, and its interval.

    As in `paired_interval`, two tasks are added to the variance, one won by each team. They do not
    move the middle: it is the estimate.

    Args:
        differences: The second team's score minus the first's on each task, in [-1, 1]; at least
            two.
        beside: The other score of the same tasks.
        more: The other score of further tasks from the same distribution.
        level: The probability with which the interval covers the true mean, from 0.95 to below 1.

    Returns:
        The estimate and the interval. With fewer than two tasks in `more`, it is the plain mean.
    """
    n, middle, mean = len(differences) + 2, fmean(beside), fmean(differences)
    values = [*differences, 1.0, -1.0]
    deviations = [*(score - middle for score in beside), 0.0, 0.0]
    weight = shift = noise = 0.0
    if len(more) > 1 and (own := sum(score**2 for score in deviations) / n):
        spread = max(own, variance(more)) / len(more)
        shared = sum(value * score for value, score in zip(values, deviations, strict=True)) / n
        weight = shared / n / (own / n + spread)
        shift, noise = weight * (fmean(more) - middle), weight**2 * spread
    rests = [value - mean - weight * score for value, score in zip(values, deviations, strict=True)]
    error = math.sqrt(sum(rest**2 for rest in rests) / n / n + noise)
    reach = t_quantile(n - 2 if weight else n - 1, level) * error
    estimate = mean + shift
    return estimate, (max(-1.0, estimate - reach), min(1.0, estimate + reach))
