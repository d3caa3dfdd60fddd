"""Measures with intervals: Hit@k of ranked lists, learning gain, and what compare says of both."""

import json
from pathlib import Path

import pytest

from coterie.benchmarks.command import main
from coterie.benchmarks.comparison.comparing import compare
from coterie.benchmarks.evaluation.benchmark import ACCURACY
from coterie.benchmarks.evaluation.figures import EvaluationFigures
from coterie.benchmarks.evaluation.measures import LEARNING, RANKED
from coterie.benchmarks.evaluation.samples import Sample
from coterie.pool.values.intervals import mean_interval, paired_interval, wilson
from coterie.runtime.scoring.ranked import ranked

from ...support.commands import ran
from ..kept import kept, sample


def placed(task: str, place: int, trial: int = 1) -> Sample:
    """A trial whose list has the truth in this place."""
    listed = json.dumps([*map(str, range(1, place)), "truth"])
    score = ranked(listed, "truth", {})
    return sample(task, score.value, trial=trial, answer=listed, measures=score.measures)


def learner(task: str, before: float, after: float, trial: int = 1) -> Sample:
    measures = {"before": before, "after": after, "gain": after - before}
    return sample(task, after, trial=trial, answer="A", measures=measures)


def test_hits_and_mrr_of_ranked_lists_have_intervals() -> None:
    samples = [placed(str(n), place) for n, place in enumerate([1, 2, 4, 8])]
    report = EvaluationFigures.of(samples, ACCURACY, RANKED).results()["measures"]
    assert list(report) == ["hit@1", "hit@3", "hit@5", "hit@10", "reciprocal_rank"]
    assert [item["mean"] for item in report.values()] == [
        0.25,
        0.5,
        0.75,
        1,
        (1 + 0.5 + 0.25 + 0.125) / 4,
    ]
    assert report["hit@3"]["interval"] == pytest.approx(list(wilson(2, 4)))
    assert (report["hit@3"]["n"], report["hit@3"]["of"]) == (4, 4)


def test_a_list_that_never_came_hits_nothing() -> None:
    samples = [placed("a", 1), placed("a", 3, trial=2), sample("b", 0.0, status="failed")]
    report = EvaluationFigures.of(samples, ACCURACY, RANKED).results()["measures"]["hit@1"]
    assert report["mean"] == pytest.approx(1 / 3)
    assert report["interval"] == pytest.approx(list(mean_interval([[1.0, 0.0], [0.0]])))
    assert report["n"] == 3


def test_a_learning_gain_has_a_paired_interval() -> None:
    pairs = [(0, 1), (0, 1), (1, 1), (1, 0), (0, 0)]
    samples = [learner(str(n), before, after) for n, (before, after) in enumerate(pairs)]
    lost = sample("lost", 0.0, status="failed")
    report = EvaluationFigures.of([*samples, lost], ACCURACY, LEARNING).results()["measures"]
    assert report["gain"]["mean"] == pytest.approx(0.2)
    assert report["gain"]["interval"] == pytest.approx(list(paired_interval([1, 1, 0, -1, 0])))
    # Of a trial that came to nothing nobody knows what the student could do before.
    assert [report[name]["n"] for name in ("before", "after", "gain")] == [5, 6, 5]
    assert report["after"]["mean"] == pytest.approx(0.5)


def test_measures_of_two_teams_are_compared_task_by_task(tmp_path: Path) -> None:
    lesson = [learner("a", 0, 0), learner("b", 1, 0), learner("c", 0, 1)]
    plain = kept(tmp_path / "plain", lesson, benchmark="teaching")
    better = [learner("a", 0, 1), learner("b", 0, 1), sample("c", 0.0, status="failed")]
    folders = (plain, kept(tmp_path / "better", better, benchmark="teaching"))
    report = compare(*folders).value()["measures"]
    assert report["after"]["difference"] == pytest.approx(1 / 3)
    assert report["gain"] == {
        "tasks": 2,
        "means": [-0.5, 1.0],
        "difference": 1.5,
        "interval": pytest.approx([2 * end for end in paired_interval([0.5, 1.0])]),
    }
    assert "gain: -0.500 and 1.000, difference +1.500 [" in str(compare(*folders))
    shown = ran(main, "table", str(plain))
    assert "0.333 [0.061, 0.792]" in shown.output, shown.output
