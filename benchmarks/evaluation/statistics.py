"""Statistics of scores: pass@k, percentiles, and tests and effect sizes of differences."""

from __future__ import annotations

import math
from collections.abc import Sequence
from math import comb
from typing import Any, cast

DIGITS = 12
"""Decimals of differences of means; further ones are rounding errors of binary fractions."""

PERCENTILES = (50, 90, 99)


def percentiles(values: Sequence[float]) -> dict[str, float]:
    """Return p50, p90 and p99, each the smallest value that this percentage does not exceed.

    The result is empty without values.
    """
    ranked = sorted(values)
    last = len(ranked) - 1
    return {
        f"p{k}": ranked[min(last, math.ceil(k * len(ranked) / 100) - 1)]
        for k in PERCENTILES
        if ranked
    }


def rounded(value: Any) -> Any:
    """Round all numbers of a JSON value to 12 digits; the rest is noise of binary fractions."""
    if isinstance(value, float):
        return round(value, DIGITS)
    if isinstance(value, dict):
        return {name: rounded(item) for name, item in cast("dict[str, Any]", value).items()}
    if isinstance(value, list | tuple):
        return [rounded(item) for item in cast("Sequence[Any]", value)]
    return value


def holm(ps: Sequence[float]) -> list[float]:
    """Adjust p-values of several comparisons for their number (Holm 1979).

    Then at most one in twenty families has a value below 0.05 by chance.
    """
    adjusted, largest = [0.0] * len(ps), 0.0
    for rank, number in enumerate(sorted(range(len(ps)), key=lambda at: ps[at])):
        largest = max(largest, min(1.0, (len(ps) - rank) * ps[number]))
        adjusted[number] = largest
    return adjusted


def cohens_h(before: float, after: float) -> float:
    """Return the effect size h of two shares: 0.2 is small, 0.5 medium, 0.8 large (Cohen)."""
    return 2 * math.asin(math.sqrt(after)) - 2 * math.asin(math.sqrt(before))


def outcomes(before: Sequence[float], after: Sequence[float]) -> tuple[int, int, int]:
    """Return the number of tasks on which the second team is better, worse, and the same."""
    pairs = list(zip(before, after, strict=True))
    better = sum(two > value for value, two in pairs)
    worse = sum(two < value for value, two in pairs)
    return better, worse, len(pairs) - better - worse


def odds_ratio(before: Sequence[float], after: Sequence[float]) -> float:
    """Return the matched odds ratio: tasks that only the second team solves to only the first's.

    Half a task is added to both, so it is defined if one of them has none.
    """
    better, worse, _ = outcomes(before, after)
    return (better + 0.5) / (worse + 0.5)


def rank_biserial(before: Sequence[float], after: Sequence[float]) -> float:
    """Return the matched rank-biserial correlation (Kerby 2014), in [-1, 1].

    This is the share of all differences' ranks in favour of the second team, minus the other share.
    """
    differences = [difference for difference in _differences(before, after) if difference]
    sizes = sorted(abs(difference) for difference in differences)
    ranks = {size: sizes.index(size) + (sizes.count(size) + 1) / 2 for size in set(sizes)}
    total = sum(ranks[size] for size in sizes)
    return (
        sum(math.copysign(ranks[abs(difference)], difference) for difference in differences) / total
        if total
        else 0.0
    )


def pass_at(k: int, right: Sequence[int], trials: Sequence[int]) -> float | None:
    """Return the unbiased probability that one of k trials is right (Chen et al. 2021, §2.1).

    Args:
        right: The number of right trials of each task.
        trials: The number of trials of each task.

    Returns:
        The mean over the tasks; None if a task has fewer than k trials, or there is no task.
    """
    if not trials or min(trials) < k:
        return None
    missed = (comb(n - c, k) / comb(n, k) for c, n in zip(right, trials, strict=True))
    return 1 - sum(missed) / len(trials)


def mcnemar(before: Sequence[float], after: Sequence[float]) -> float:
    """Return the exact two-sided p-value of McNemar's test: do two teams differ on the same tasks?

    Args:
        before: The first team's score on each task: 0 or 1.
        after: The second team's score on the same tasks, in the same order.
    """
    better, worse, _ = outcomes(before, after)
    differing = worse + better
    tail = sum(comb(differing, count) for count in range(min(worse, better) + 1))
    return min(1.0, 2 * tail / 2**differing)


def paired_t(before: Sequence[float], after: Sequence[float]) -> float:
    """Return the two-sided p-value of the paired t-test (Meta-Team App. E).

    Args:
        before: The first run's score of each task: the mean over its trials.
        after: The second run's, of the same tasks in the same order.

    Returns:
        1 if the runs have equal scores on every task.
    """
    differences = _differences(before, after)
    if not any(differences):
        return 1.0
    if len(set(differences)) == 1:
        return 2.0 ** (1 - len(differences))  # without variance, the p-value of a sign test
    from scipy.stats import ttest_1samp

    tested: Any = ttest_1samp(differences, 0)
    return float(tested.pvalue)


def wilcoxon(before: Sequence[float], after: Sequence[float]) -> float:
    """Return Wilcoxon's two-sided p-value; see `paired_t`. Tasks of equal scores are left out."""
    differences = [difference for difference in _differences(before, after) if difference]
    if not differences:
        return 1.0
    from scipy.stats import wilcoxon as signed_rank

    tested: Any = signed_rank(differences)
    return float(tested.pvalue)


def _differences(before: Sequence[float], after: Sequence[float]) -> list[float]:
    """Return each task's gain, rounded so that equal gains of a third compare equal."""
    return [round(two - value, DIGITS) for value, two in zip(before, after, strict=True)]
