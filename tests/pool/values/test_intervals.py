"""Intervals of figures: Wilson's where they are known, never of zero width, and wide enough."""

from collections.abc import Mapping, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coterie.benchmarks.bbeh.benchmark import harmonic_mean_accuracy
from coterie.pool.values.intervals import figure_interval, mean_interval, wilson

SCORES = st.one_of(st.sampled_from([0.0, 0.5, 1.0]), st.floats(0, 1))
NICHES = st.dictionaries(
    st.text(max_size=3),
    st.lists(st.lists(SCORES, min_size=1, max_size=4), min_size=1, max_size=4),
    min_size=1,
    max_size=4,
)


def mean_of_niches(niches: Mapping[str, Sequence[float]]) -> float:
    return sum(sum(scores) / len(scores) for scores in niches.values()) / len(niches)


@pytest.mark.parametrize(("right", "tasks"), [(0, 3), (3, 3), (1, 3), (7, 10), (499, 500)])
def test_single_trials_right_or_wrong_have_wilsons_interval(right: int, tasks: int) -> None:
    scores = [[float(n < right)] for n in range(tasks)]
    assert mean_interval(scores) == pytest.approx(wilson(right, tasks))


@pytest.mark.parametrize("score", [0.0, 0.4, 1.0])
@pytest.mark.parametrize(("tasks", "trials"), [(1, 1), (2, 5), (3, 5), (500, 5)])
def test_scores_that_are_all_alike_leave_doubt(score: float, tasks: int, trials: int) -> None:
    low, high = mean_interval([[score] * trials] * tasks)
    assert low <= score <= high
    assert high - low > 0.2 / tasks


@pytest.mark.parametrize("figure", [None, mean_of_niches, harmonic_mean_accuracy])
def test_niches_of_one_task_leave_doubt(figure: None) -> None:
    """Each task had a stratum of its own, so drawing them again gave the same again."""
    niches = {str(n): [[1.0, 0.0, 0.0]] for n in range(4)}
    low, high = figure_interval(niches, figure)
    assert low < 1 / 3 < high
    assert high - low > 0.3


@given(niches=NICHES)
def test_any_scores_interval_holds_their_mean(niches: dict[str, list[list[float]]]) -> None:
    means = {niche: [sum(x) / len(x) for x in tasks] for niche, tasks in niches.items()}
    every = [mean for scores in means.values() for mean in scores]
    for figure, value in ((None, sum(every) / len(every)), (mean_of_niches, mean_of_niches(means))):
        low, high = figure_interval(niches, figure)
        assert -1e-9 <= low <= value + 1e-9
        assert value - 1e-9 <= high <= 1 + 1e-9
        assert low < high


def test_trials_of_a_task_tell_less_than_as_many_tasks() -> None:
    """Ten tasks, half of them always right, are no fifty tasks."""
    low, high = mean_interval([[float(n % 2)] * 5 for n in range(10)])
    assert (low, high) == pytest.approx(wilson(5, 10))
    once = mean_interval([[float(n % 2)] for n in range(50)])
    assert high - low > 1.9 * (once[1] - once[0])


def test_trials_that_differ_tell_more_than_one() -> None:
    low, high = mean_interval([[1.0, 0.0, 1.0, 0.0]] * 10)
    item = wilson(5, 10)
    assert high - low < 0.7 * (item[1] - item[0])


def test_what_differs_between_niches_is_no_chance() -> None:
    apart = {"easy": [[1.0], [1.0], [0.0], [1.0]] * 3, "hard": [[0.0], [0.0], [1.0], [0.0]] * 3}
    mixed = {"": [*apart["easy"], *apart["hard"]]}
    low, high = figure_interval(apart)
    assert high - low < 0.95 * (figure_interval(mixed)[1] - figure_interval(mixed)[0])


def test_a_figure_that_is_bent_has_the_interval_of_what_it_estimates() -> None:
    """The harmonic mean of few tasks is far too low, and its interval says so."""
    niches = {str(n): [[float(k <= n % 3)] for k in range(5)] for n in range(20)}
    means = {niche: [sum(x) / len(x) for x in tasks] for niche, tasks in niches.items()}
    value = harmonic_mean_accuracy(means)
    low, high = figure_interval(niches, harmonic_mean_accuracy)
    assert low <= value < high
    assert high - value > 2 * (value - low)
    assert figure_interval(niches, harmonic_mean_accuracy) == (low, high)


def test_without_a_task_nothing_is_known() -> None:
    assert figure_interval({}) == figure_interval({"": []}) == (0.0, 1.0)


@pytest.mark.parametrize("value", [0.0, 0.7, 7.0])
def test_a_figure_that_depends_on_nothing_is_itself_its_interval(value: float) -> None:
    niches = {"a": [[0.0, 1.0], [1.0]], "b": [[0.5]]}
    assert figure_interval(niches, lambda _: value) == (value, value)
