"""Folders of results: what is written is enough to read, and to go on with."""

import re
from pathlib import Path

import pytest

from coterie.benchmarks.evaluation import results
from coterie.benchmarks.evaluation.benchmark import ACCURACY, Benchmark, Source
from coterie.benchmarks.evaluation.choosing import TaskChoice
from coterie.benchmarks.evaluation.figures import EvaluationFigures
from coterie.benchmarks.evaluation.results import Request, Results, read_results, read_samples
from coterie.schema import InputError, Task

from ..kept import kept, sample

SAMPLES = [
    sample("a", 1.0, answer="The answer is: 7\n", niche="sums"),
    sample("b", 0.0, reason="Ünequal", niche="words"),
    sample("c", None, error="HTTP 500"),
]


def test_the_folder_says_what_was_run_and_what_came_of_it(tmp_path: Path) -> None:
    folder = kept(tmp_path / "r", SAMPLES, missing=4)
    report = read_results(folder)
    assert (report["benchmark"], report["team"]) == ("bbeh-mini", "solo")
    assert report["models"] == {"default": "m"}
    assert set(report["versions"]) >= {"coterie"}
    assert report["command"] == "mas-bench run"
    assert (report["samples"], report["unscored"], report["missing"]) == (2, 1, 4)
    assert report["complete"] is False
    expected = EvaluationFigures.of(SAMPLES, ACCURACY).results()
    assert {name: report[name] for name in expected} == expected
    assert list(read_samples(folder)) == SAMPLES


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (None, "run.json: there is no such file"),
        ("{", "run.json: cannot be read"),
        ("[]", "run.json: not a JSON object"),
        ("{}", "run.json: not the manifest of an evaluation"),
        (
            '{"evaluation": {"benchmark": 1}, "head": {}}',
            "not the manifest of an evaluation: evaluation",
        ),
    ],
)
def test_a_foreign_folder_is_said(tmp_path: Path, text: str | None, message: str) -> None:
    if text is not None:
        (tmp_path / "run.json").write_text(text)
    with pytest.raises(InputError, match=message):
        Results.open(tmp_path, scrub=str)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b'{"task": "d", "tri\n', "not a sample"),
        (b"[]\n", "not a sample"),
        (b'{"task": "d"}\n', "not a sample: .*'trial'"),
        (b'{"task": "d", "trial": 1, "status": "done", "colour": 3}\n', "'colour'"),
        (b'{"task": "\xff", "trial": 1, "status": "done"}\n', "not a sample"),
        (b"\n", "not a sample"),
    ],
)
def test_a_damaged_line_is_named(tmp_path: Path, line: bytes, message: str) -> None:
    folder = kept(tmp_path / "r", SAMPLES)
    path = folder / "samples.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([lines[0], line, *lines[1:]]))
    with pytest.raises(InputError, match=f"{re.escape(str(path))}:2: .*{message}"):
        list(read_samples(folder))


def test_missing_and_foreign_files_are_said(tmp_path: Path) -> None:
    for read in (read_results, lambda folder: list(read_samples(folder))):
        with pytest.raises(InputError, match="there is no such file"):
            read(tmp_path)
    (tmp_path / "results.json").write_text('{"version": 9}')
    with pytest.raises(InputError, match="version 9 is not supported, only 2"):
        read_results(tmp_path)


def test_tasks_of_the_same_id_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    twice = Benchmark(
        name="twice",
        title="Twice",
        about="Says everything twice.",
        licence="CC0",
        citation="Nobody",
        tasks=lambda _source: [Task(id="a", query="1?"), Task(id="a", query="2?")],
    )
    monkeypatch.setattr(results, "find_benchmark", lambda _name: twice)
    request = Request(benchmark="twice", source=Source(), choice=TaskChoice(), trials=1)
    with pytest.raises(InputError, match="two tasks have the id 'a'"):
        request.tasks()
