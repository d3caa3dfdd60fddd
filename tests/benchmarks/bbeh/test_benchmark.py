"""The two benchmarks as a user finds them, and their figures."""

import os
from collections import Counter
from pathlib import Path

import pytest

from coterie.benchmarks.bbeh.benchmark import harmonic_mean_accuracy
from coterie.benchmarks.bbeh.examples import SUBTASKS
from coterie.benchmarks.bbeh.verdict import bbeh
from coterie.benchmarks.evaluation.benchmark import Source, find_benchmark
from coterie.schema import Task

from .published import clone

NAMES = ["bbeh", "bbeh-mini"]


@pytest.fixture(scope="module")
def real() -> Source:
    folder = os.environ.get("MAS_BENCHMARK_DATA")
    if not folder:
        pytest.skip("MAS_BENCHMARK_DATA does not name a folder with the data of benchmarks")
    return Source(data=Path(folder))


def by_niche(tasks: list[Task], answer: str) -> dict[str, list[float]]:
    """Score the same form of the right answer on every task."""
    scores: dict[str, list[float]] = {}
    for task in tasks:
        value = bbeh(answer.format(task.answer), task.answer, task.scorer.options).value
        scores.setdefault(str(task.niche), []).append(value)
    return scores


@pytest.mark.parametrize("name", NAMES)
def test_it_is_found_by_name_and_its_tasks_can_be_scored(name: str, tmp_path: Path) -> None:
    benchmark = find_benchmark(name)
    assert "arXiv:2502.19187" in benchmark.citation
    assert "CC BY 4.0" in benchmark.licence
    assert "--data" in benchmark.source
    tasks = list(benchmark.tasks(Source(data=clone(tmp_path))))
    right = by_niche(tasks, "So: The answer is: {}")
    assert benchmark.headline.of(right) == pytest.approx(1.01 if name == "bbeh" else 1)
    wrong = by_niche(tasks, "So: The answer is: not {}")
    assert benchmark.headline.of(wrong) == pytest.approx(0.01 if name == "bbeh" else 0)


def test_the_full_figure_is_the_harmonic_mean_of_a_little_more() -> None:
    assert harmonic_mean_accuracy({"a": [1.0, 0.0], "b": [0.0, 0.0, 0.0, 1.0]}) == pytest.approx(
        2 / (1 / 0.51 + 1 / 0.26)
    )
    assert harmonic_mean_accuracy({"a": [1.0], "b": [0.0]}) == pytest.approx(2 / (1 / 1.01 + 100))
    assert harmonic_mean_accuracy({"a": [0.5], "b": []}) == pytest.approx(0.51)
    assert harmonic_mean_accuracy({}) == 0


def test_the_mini_figure_is_the_micro_average() -> None:
    headline = find_benchmark("bbeh-mini").headline
    assert headline.name == "accuracy"
    assert headline.of({"a": [1.0, 1.0, 0.0], "b": [0.0]}) == 0.5


@pytest.mark.parametrize("name", NAMES)
def test_the_published_files_give_all_tasks(real: Source, name: str) -> None:
    tasks = find_benchmark(name).tasks(real)
    counted = Counter(task.niche for task in tasks)
    assert set(counted) == set(SUBTASKS)
    if name == "bbeh":
        assert counted.pop("disambiguation_qa") == 120
        assert set(counted.values()) == {200}
        assert len({task.query for task in tasks}) == 4520 - 7
    else:
        assert set(counted.values()) == {20}
        known = {task.id: task for task in find_benchmark("bbeh").tasks(real)}
        assert all(known[task.id] == task for task in tasks)
    assert len({task.id for task in tasks}) == len(tasks)
    assert all(isinstance(task.answer, str) for task in tasks)


def test_perfect_answers_to_the_published_tasks_give_the_known_figures(real: Source) -> None:
    """Eleven references of linguini end in a full stop, which no answer keeps; none of mini."""
    full, mini = (list(find_benchmark(name).tasks(real)) for name in NAMES)
    scores = by_niche(full, "The answer is: {}")
    assert {name: score.count(0.0) for name, score in scores.items() if 0.0 in score} == {
        "linguini": 11
    }
    assert harmonic_mean_accuracy(scores) == pytest.approx(23 / (22 / 1.01 + 1 / 0.955))
    assert find_benchmark("bbeh-mini").headline.of(by_niche(mini, "The answer is: {}")) == 1
    bold = by_niche(full, "**The answer is:** {}")
    assert sum(values.count(0.0) for values in bold.values()) == 3236
