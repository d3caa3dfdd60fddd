"""Statistics against values known from elsewhere: by hand, by enumeration, by scipy."""

from __future__ import annotations

import random
from itertools import combinations
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from coterie.benchmarks.benchmark import mean_score
from coterie.benchmarks.statistics import bootstrap, mcnemar, paired_t, pass_at, wilcoxon

stats: Any = scipy_stats  # its types leave open what a test gives
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


@pytest.mark.parametrize(("worse", "better"), [(3, 9), (0, 12), (40, 60), (500, 700)])
def test_mcnemar_is_the_binomial_test_of_what_differs(worse: int, better: int) -> None:
    p = stats.binomtest(worse, worse + better, 0.5).pvalue
    before, after = [1.0] * worse + [0.0] * better, [0.0] * worse + [1.0] * better
    assert mcnemar(before, after) == pytest.approx(p)


@settings(max_examples=50)
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


def test_a_bootstrap_interval_has_the_size_that_theory_gives() -> None:
    chance = random.Random(1)
    scores = [chance.random() for _ in range(400)]
    low, high = bootstrap({"": scores}, mean_score)
    mean, reach = sum(scores) / 400, 1.96 * stats.sem(scores)
    assert low == pytest.approx(mean - reach, abs=0.005)
    assert high == pytest.approx(mean + reach, abs=0.005)
    assert bootstrap({"": scores}, mean_score) == (low, high)
    assert bootstrap({"": scores}, mean_score, seed=1) != (low, high)


def test_bootstrap_intervals_cover_the_truth() -> None:
    """About 95 in 100: some less for so few tasks, as percentile intervals do."""
    chance = random.Random(2)
    held = 0
    for number in range(60):
        scores = [chance.betavariate(2, 3) for _ in range(40)]
        low, high = bootstrap({"": scores}, mean_score, seed=number)
        held += low <= 2 / 5 <= high
    assert 50 <= held <= 60


def test_tasks_are_drawn_again_within_their_niche() -> None:
    """What differs between niches is no chance: only what differs within one is."""
    assert bootstrap({"easy": [1.0] * 9, "hard": [0.0] * 9}, mean_score) == (0.5, 0.5)
    low, high = bootstrap({"": [1.0] * 9 + [0.0] * 9}, mean_score)
    assert low < 0.4
    assert high > 0.6
    assert bootstrap({"one": [0.25]}, mean_score) == (0.25, 0.25)


def test_paired_tests_are_those_of_scipy() -> None:
    chance = random.Random(3)
    before = [chance.random() for _ in range(30)]
    after = [one + chance.gauss(0.05, 0.1) for one in before]
    assert paired_t(before, after) == pytest.approx(stats.ttest_rel(before, after).pvalue)
    assert wilcoxon(before, after) == pytest.approx(stats.wilcoxon(before, after).pvalue)


def test_tasks_that_score_the_same_drop_out_of_wilcoxons_test() -> None:
    before, after = [0.1, 0.2, 0.3, 0.4, 0.5], [0.15, 0.4, 0.2, 0.7, 0.9]
    assert wilcoxon([*before, 1.0, 0.0], [*after, 1.0, 0.0]) == wilcoxon(before, after)


def test_means_that_rounding_alone_tells_apart_are_ties() -> None:
    """2/3 - 1/3 and 1 - 2/3 are the same third, though not the same floating-point number."""
    before, after = [1 / 3, 2 / 3, 1.0, 0.0, 1 / 3], [2 / 3, 1.0, 0.0, 1 / 3, 1.0]
    exact = stats.wilcoxon([1, 1, -3, 1, 2]).pvalue
    assert wilcoxon(before, after) == pytest.approx(exact)
    assert paired_t([1 / 3, 2 / 3], [2 / 3, 1.0]) == 0


@pytest.mark.parametrize(
    ("before", "after", "t", "signed_rank"),
    [
        ([0.5, 1.0, 0.0], [0.5, 1.0, 0.0], 1.0, 1.0),
        ([0.0], [1.0], 1.0, 1.0),
        ([0.2], [0.2], 1.0, 1.0),
        ([0.0, 0.5], [0.5, 1.0], 0.0, 0.5),
    ],
)
def test_degenerate_samples(before: list, after: list, t: float, signed_rank: float) -> None:
    assert paired_t(before, after) == t
    assert wilcoxon(before, after) == pytest.approx(signed_rank)


@settings(max_examples=20, deadline=None)
@given(pairs=PAIRS)
def test_any_pair_of_runs_has_p_values_whoever_comes_first(pairs) -> None:
    before, after = [one for one, _ in pairs], [two for _, two in pairs]
    for test in (paired_t, wilcoxon):
        p = test(before, after)
        assert 0 <= p <= 1
        assert test(after, before) == pytest.approx(p)
