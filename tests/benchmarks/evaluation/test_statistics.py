"""Statistics against values known from elsewhere: by hand, by enumeration, by scipy."""

import random
from itertools import combinations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coterie.benchmarks.evaluation.statistics import (
    cohens_h,
    holm,
    mcnemar,
    odds_ratio,
    paired_t,
    pass_at,
    percentiles,
    rank_biserial,
    rounded,
    wilcoxon,
)
from coterie.pool.values.intervals import paired_interval


def scipy_stats() -> Any:
    """Import what takes two seconds in the worker that needs it; its types leave results open."""
    from scipy import stats

    return stats


THIRDS = st.sampled_from([0.0, 1 / 3, 2 / 3, 1.0])
PAIRS = st.lists(st.tuples(THIRDS, THIRDS), min_size=1, max_size=9)


@pytest.mark.parametrize(
    ("worse", "better", "p"),
    [
        (0, 0, 1.0),
        (1, 1, 1.0),
        (0, 1, 1.0),
        (0, 5, 2 / 32),
        (1, 6, 2 * (1 + 7) / 128),
        (2, 8, 2 * (1 + 10 + 45) / 1024),
        (8, 2, 2 * (1 + 10 + 45) / 1024),
    ],
)
def test_mcnemar_by_hand(worse: int, better: int, p: float) -> None:
    alike = [1.0, 0.0, 1.0]
    before = [*alike, *[1.0] * worse, *[0.0] * better]
    after = [*alike, *[0.0] * worse, *[1.0] * better]
    assert mcnemar(before, after) == pytest.approx(p)


@given(
    tasks=st.lists(st.lists(st.booleans(), min_size=3, max_size=6), min_size=1, max_size=4),
    k=st.integers(1, 3),
)
def test_pass_at_k_is_the_share_of_all_draws_with_a_right_one(tasks, k) -> None:
    draws = [[any(drawn) for drawn in combinations(task, k)] for task in tasks]
    shares = [sum(task) / len(task) for task in draws]
    right, trials = [sum(task) for task in tasks], [len(task) for task in tasks]
    assert pass_at(k, right, trials) == pytest.approx(sum(shares) / len(shares))


def test_pass_at_k_needs_k_trials_of_every_task() -> None:
    assert pass_at(2, [1, 1], [3, 1]) is None
    assert pass_at(1, [], []) is None
    assert pass_at(3, [0, 3], [3, 3]) == 0.5


def test_the_interval_of_a_difference_is_never_of_zero_width() -> None:
    for n in (1, 3, 100):
        low, high = paired_interval([0.0] * n)
        assert low < 0 < high
        assert paired_interval([1.0] * n)[0] < 1


def test_the_interval_of_a_difference_has_the_size_that_theory_gives() -> None:
    chance = random.Random(1)
    differences = [chance.uniform(-1, 1) for _ in range(400)]
    low, high = paired_interval(differences)
    mean, reach = sum(differences) / 400, 1.96 * scipy_stats().sem(differences)
    assert low == pytest.approx(mean - reach, abs=0.005)
    assert high == pytest.approx(mean + reach, abs=0.005)


def test_percentiles_are_values_that_were_seen() -> None:
    assert percentiles([3.0]) == {"p50": 3.0, "p90": 3.0, "p99": 3.0}
    assert percentiles([4.0, 1.0, 2.0, 3.0]) == {"p50": 2.0, "p90": 4.0, "p99": 4.0}
    assert percentiles([]) == {}


def test_rounding_takes_the_noise_and_nothing_else() -> None:
    fields = {"a": [0.1 + 0.2, 1, None, "x"], "b": {"c": (1 / 3,)}}
    assert rounded(fields) == {"a": [0.3, 1, None, "x"], "b": {"c": [0.333333333333]}}


def test_holm_by_hand() -> None:
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    assert holm([0.6, 0.9]) == [1.0, 1.0]
    assert holm([]) == []


def test_effect_sizes_by_hand() -> None:
    assert cohens_h(0.5, 0.5) == 0
    assert cohens_h(0.0, 1.0) == pytest.approx(3.14159, abs=1e-4)
    assert odds_ratio([0.0, 0.0, 1.0, 1.0], [1.0, 1.0, 0.0, 1.0]) == pytest.approx(2.5 / 1.5)
    assert rank_biserial([0.0, 0.0, 0.5], [0.2, 0.6, 0.1]) == pytest.approx((1 + 3 - 2) / 6)
    assert rank_biserial([0.5], [0.5]) == 0


def test_paired_tests_are_those_of_scipy() -> None:
    chance = random.Random(3)
    before = [chance.random() for _ in range(30)]
    after = [value + chance.gauss(0.05, 0.1) for value in before]
    assert paired_t(before, after) == pytest.approx(scipy_stats().ttest_rel(before, after).pvalue)
    assert wilcoxon(before, after) == pytest.approx(scipy_stats().wilcoxon(before, after).pvalue)


def test_tasks_that_score_the_same_drop_out_of_wilcoxons_test() -> None:
    before, after = [0.1, 0.2, 0.3, 0.4, 0.5], [0.15, 0.4, 0.2, 0.7, 0.9]
    assert wilcoxon([*before, 1.0, 0.0], [*after, 1.0, 0.0]) == wilcoxon(before, after)


def test_means_that_rounding_alone_tells_apart_are_ties() -> None:
    """2/3 - 1/3 and 1 - 2/3 are the same third, though not the same floating-point number."""
    before, after = [1 / 3, 2 / 3, 1.0, 0.0, 1 / 3], [2 / 3, 1.0, 0.0, 1 / 3, 1.0]
    exact = scipy_stats().wilcoxon([1, 1, -3, 1, 2]).pvalue
    assert wilcoxon(before, after) == pytest.approx(exact)
    assert paired_t([1 / 3, 2 / 3], [2 / 3, 1.0]) == 0.5


def test_paired_tests_come_to_what_textbooks_print() -> None:
    """Student (1908), the hours of sleep of ten patients: t = -4.06, 9 degrees of freedom.

    Hollander and Wolfe (1973), p. 29: depression of nine patients, V = 40; one-sided 0.0195.
    """
    first = [0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0]
    second = [1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4]
    assert paired_t(first, second) == pytest.approx(0.002833, abs=5e-7)
    before = [1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30]
    after = [0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29]
    assert wilcoxon(before, after) == pytest.approx(2 * 0.01953125)


@pytest.mark.parametrize(
    ("before", "after", "t", "signed_rank"),
    [
        ([0.5, 1.0, 0.0], [0.5, 1.0, 0.0], 1.0, 1.0),
        ([0.0], [1.0], 1.0, 1.0),
        ([0.2], [0.2], 1.0, 1.0),
        ([0.0, 0.5], [0.5, 1.0], 0.5, 0.5),
    ],
)
def test_degenerate_samples(before: list, after: list, t: float, signed_rank: float) -> None:
    assert paired_t(before, after) == t
    assert wilcoxon(before, after) == pytest.approx(signed_rank)


@given(pairs=PAIRS)
def test_any_pair_of_runs_has_p_values_whoever_comes_first(pairs) -> None:
    before, after = [item for item, _ in pairs], [two for _, two in pairs]
    for test in (paired_t, wilcoxon):
        p = test(before, after)
        assert 0 <= p <= 1
        assert test(after, before) == pytest.approx(p)
