"""What scores tell: intervals, pass@k, and tests of the difference between two evaluations."""

from __future__ import annotations

import math
import random
from math import comb
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

__all__ = ["Interval", "bootstrap", "mcnemar", "paired_t", "pass_at", "wilcoxon"]

RESAMPLES = 2_000
"""Resamples of a bootstrap: the ends of a 95 % interval then vary by a few thousandths."""

DIGITS = 12
"""Of differences of means: what comes behind them is the rounding of binary fractions."""

Interval = tuple[float, float]


def bootstrap(
    niches: Mapping[str, Sequence[float]],
    figure: Callable[[Mapping[str, Sequence[float]]], float],
    *,
    seed: int = 0,
) -> Interval:
    """Give the 95 % percentile interval of a figure, by drawing tasks of each niche again.

    The task is the unit: its trials are not independent of each other, so they stay together.

    Args:
        niches: The score of each task, in [0, 1], by niche.
        figure: Computes the figure from such scores.
        seed: Makes it repeatable.
    """
    chance = random.Random(seed)  # noqa: S311 - not for secrets
    drawn = sorted(
        figure({niche: chance.choices(scores, k=len(scores)) for niche, scores in niches.items()})
        for _ in range(RESAMPLES)
    )
    return drawn[int(0.025 * RESAMPLES)], drawn[math.ceil(0.975 * RESAMPLES) - 1]


def pass_at(k: int, right: Sequence[int], trials: Sequence[int]) -> float | None:
    """Give the chance that one of k trials is right, without bias (Chen et al. 2021, §2.1).

    Args:
        k: How many trials one has.
        right: How many trials of each task were right.
        trials: How many trials each task had.

    Returns:
        The mean over the tasks; None where some task has fewer than k trials, or there is none.
    """
    if not trials or min(trials) < k:
        return None
    missed = (comb(n - c, k) / comb(n, k) for c, n in zip(right, trials, strict=True))
    return 1 - sum(missed) / len(trials)


def mcnemar(before: Sequence[float], after: Sequence[float]) -> float:
    """Give the exact two-sided p-value of McNemar's test: do two teams differ on the same tasks?

    Args:
        before: What one team scored on each task: 0 or 1.
        after: What the other one scored on the same tasks, in the same order.
    """
    worse = sum(one > other for one, other in zip(before, after, strict=True))
    better = sum(one < other for one, other in zip(before, after, strict=True))
    differing = worse + better
    tail = sum(comb(differing, count) for count in range(min(worse, better) + 1))
    return min(1.0, 2 * tail / 2**differing)


def paired_t(before: Sequence[float], after: Sequence[float]) -> float:
    """Give the two-sided p-value of the paired t-test (Meta-Team App. E).

    Args:
        before: One run's score of each task: the mean over its trials.
        after: The other run's, of the same tasks in the same order.

    Returns:
        1 where the runs are alike on every task; 0 where they differ by the same on every task.
    """
    differences = _differences(before, after)
    if not any(differences):
        return 1.0
    if len(set(differences)) == 1:
        return 0.0 if len(differences) > 1 else 1.0
    from scipy.stats import ttest_1samp

    tested: Any = ttest_1samp(differences, 0)
    return float(tested.pvalue)


def wilcoxon(before: Sequence[float], after: Sequence[float]) -> float:
    """Give the two-sided p-value of Wilcoxon's signed-rank test; tasks with equal scores drop out.

    Args:
        before: One run's score of each task: the mean over its trials.
        after: The other run's, of the same tasks in the same order.
    """
    differences = [one for one in _differences(before, after) if one]
    if not differences:
        return 1.0
    from scipy.stats import wilcoxon as signed_rank

    tested: Any = signed_rank(differences)
    return float(tested.pvalue)


def _differences(before: Sequence[float], after: Sequence[float]) -> list[float]:
    """Give what each task gained. A third more is the same for all, however it was rounded."""
    return [round(two - one, DIGITS) for one, two in zip(before, after, strict=True)]
