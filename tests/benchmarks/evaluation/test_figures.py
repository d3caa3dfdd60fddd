"""Figures: what counts, what is left out, and how sure one can be."""

import pytest

from coterie.benchmarks.bbeh.benchmark import harmonic_mean_accuracy
from coterie.benchmarks.evaluation.benchmark import ACCURACY, Headline
from coterie.benchmarks.evaluation.figures import EvaluationFigures
from coterie.benchmarks.evaluation.measures import Measure
from coterie.pool.values.intervals import wilson
from coterie.runtime.values.usage import Usage

from ..kept import sample

HARMONIC = Headline(name="harmonic", of=harmonic_mean_accuracy)
TRIALS = [
    *(sample("a", score, trial=n) for n, score in enumerate([1.0, 0.0, 0.0], 1)),
    *(sample("b", score, trial=n) for n, score in enumerate([1.0, 1.0, 1.0], 1)),
]


def test_trials_of_a_task_are_averaged_first() -> None:
    report = EvaluationFigures.of(TRIALS, ACCURACY).results()
    assert report["headline"]["value"] == report["avg@k"] == pytest.approx(2 / 3)
    assert (report["tasks"], report["samples"], report["trials"]) == (2, 6, 3)
    assert report["pass@k"] == pytest.approx({"1": 2 / 3, "2": (2 / 3 + 1) / 2, "3": 1.0})


def test_a_task_with_fewer_trials_weighs_as_much_as_any_other() -> None:
    report = EvaluationFigures.of([*TRIALS, sample("c", 0.0)], ACCURACY).results()
    assert report["headline"]["value"] == pytest.approx((1 / 3 + 1 + 0) / 3)
    assert report["pass@k"]["2"] is None


def test_only_a_full_score_passes() -> None:
    report = EvaluationFigures.of([sample("a", 0.9), sample("b", 1.0)], ACCURACY).results()
    assert report["pass@k"] == {"1": 0.5}
    assert report["avg@k"] == pytest.approx(0.95)


def test_what_nobody_can_score_is_counted_and_left_out() -> None:
    lost = sample("c", None, usage=Usage(calls=2), seconds=3.0)
    report = EvaluationFigures.of(
        [sample("a", 1.0), sample("b", 1.0, lost=2), lost], ACCURACY
    ).results()
    assert report["headline"]["value"] == 1
    assert (report["tasks"], report["samples"], report["unscored"]) == (2, 2, 1)
    assert report["execution_rate"]["n"] == 2
    assert report["usage"]["calls"] == 2  # it was paid for all the same
    assert report["seconds"] == 3


def test_a_team_that_gives_no_answer_lowers_the_execution_rate() -> None:
    own = [sample("a", 0.0, status="failed"), sample("b", 0.0, status="stopped")]
    report = EvaluationFigures.of([*own, sample("c", 0.0), sample("d", 1.0)], ACCURACY).results()
    assert report["execution_rate"] == {
        "value": 0.5,
        "interval": pytest.approx(list(wilson(2, 4))),
        "n": 4,
    }
    assert report["headline"]["value"] == 0.25


def test_the_headline_of_a_benchmark_has_an_interval_of_its_own() -> None:
    many = [
        sample(f"{niche}{n}", float(n < right), niche=niche)
        for niche, right in (("easy", 18), ("hard", 4))
        for n in range(20)
    ]
    report = EvaluationFigures.of(many, HARMONIC).results()
    headline = report["headline"]
    assert headline["name"] == "harmonic"
    assert headline["value"] == pytest.approx(2 / (1 / 0.91 + 1 / 0.21))
    low, high = headline["interval"]
    assert low < headline["value"] < high
    assert [low, high] != EvaluationFigures.of(many, ACCURACY).results()["headline"]["interval"]
    assert report["niches"]["hard"] == {
        "tasks": 20,
        "value": pytest.approx(0.2),
        "interval": pytest.approx(list(wilson(4, 20))),
    }


def test_measures_say_of_how_many_samples_they_are() -> None:
    samples = [
        sample("a", 1.0, answer="1", measures={"side_effects": 0.0}),
        sample("b", 0.0, answer="2", measures={"side_effects": 1.0, "calls": 4.0}),
        sample("c", 0.0, status="failed"),
        sample("d", None),
    ]
    assert EvaluationFigures.of(samples, ACCURACY).results()["measures"] == {
        "calls": {"mean": 4.0, "n": 1, "of": 3},
        "side_effects": {"mean": 0.5, "n": 2, "of": 3},
    }


def test_a_run_without_an_answer_has_the_measures_that_the_benchmark_says() -> None:
    """Four of six came empty-handed, and of the other two it said: f2p 1.000."""
    result = [sample(str(n), 1.0, answer="diff", measures={"f2p": 1.0}) for n in range(2)]
    empty = [sample(str(n), 0.0, status="stopped") for n in range(2, 6)]
    known = {"f2p": Measure(unanswered=0.0), "never": Measure(unanswered=1.0)}
    report = EvaluationFigures.of([*result, *empty], ACCURACY, known).results()
    assert report["measures"] == {"f2p": {"mean": pytest.approx(1 / 3), "n": 6, "of": 6}}


def test_latency_is_told_in_percentiles() -> None:
    samples = [sample(str(n), 1.0, seconds=float(n)) for n in range(1, 101)]
    report = EvaluationFigures.of(samples, ACCURACY).results()["latency"]
    assert report == {"p50": 50.0, "p90": 90.0, "p99": 99.0}


def test_figures_have_no_noise_of_binary_fractions() -> None:
    samples = [sample(str(n), score, usage=Usage(usd=0.1)) for n, score in enumerate([0.1, 0.2, 0])]
    report = EvaluationFigures.of(samples, ACCURACY).results()
    assert (report["headline"]["value"], report["usage"]["usd"]) == (0.1, 0.3)


def test_without_a_score_there_is_no_figure() -> None:
    report = EvaluationFigures.of([sample("a", None)], ACCURACY).results()
    assert report["headline"] == {"name": "accuracy", "value": None, "interval": [0.0, 1.0]}
    assert report["execution_rate"] == {"value": None, "interval": [0.0, 1.0], "n": 0}
    assert (report["trials"], report["pass@k"], report["unscored"]) == (0, {}, 1)
