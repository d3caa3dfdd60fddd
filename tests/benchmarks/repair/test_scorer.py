"""The scorer `repair`: a score and its measures; never a score where nothing could be run."""

from dataclasses import replace
from pathlib import Path

import pytest

from coterie.benchmarks.repair.benchmark import repair_task
from coterie.runtime.jail.detect import JailReport, detect
from coterie.runtime.scoring.scorers import ScorerError
from coterie.schema import JailError, ScorerChoice, Task

from ...repairs import CODE, RIGHT, TESTS, change, needs_jail, small_repository
from ...scoring import found as scored

assert detect  # the module of the same name is looked up below


@pytest.fixture
def task(tmp_path: Path) -> Task:
    instance = small_repository(tmp_path / "repository")
    return repair_task(instance, tmp_path / "repository", "small")


@needs_jail
def test_a_repair_scores_one(task: Task) -> None:
    result = scored(task, RIGHT)
    assert (result.value, result.reason) == (1.0, "FULL: all tests pass as they should")
    assert result.measures == {
        "empty_patch": 0, "patch_applied": 1, "f2p": 1, "p2p": 1, "partial": 0, "edits_tests": 0,
    }  # fmt: skip


@needs_jail
def test_a_patch_of_tests_alone_scores_nothing_and_is_marked(task: Task) -> None:
    result = scored(task, change("test_doubling.py", TESTS, "def test_three():\n    pass\n"))
    assert result.value == 0
    assert result.measures["edits_tests"] == 1
    assert (result.measures["f2p"], result.measures["p2p"]) == (0, 1)
    assert result.reason.startswith("NO: 1 tests do not pass")


@needs_jail
def test_an_answer_that_is_no_patch(task: Task) -> None:
    result = scored(task, "The fault is in double().")
    assert (result.value, result.reason) == (0, "the patch does not apply")
    assert set(result.measures.values()) == {0}


def test_an_empty_answer_is_marked(task: Task) -> None:
    result = scored(task, "")
    assert (result.value, result.measures["empty_patch"]) == (0, 1)


@needs_jail
def test_the_time_for_the_tests_is_an_option(task: Task) -> None:
    hangs = change("doubling.py", CODE, "import time\ntime.sleep(1000)\n" + CODE)
    short = replace(task, scorer=ScorerChoice(name="repair", options={"timeout": 2}))
    assert "longer than 2 seconds" in scored(short, hangs).reason


def test_without_a_jail_there_is_no_score(task: Task, monkeypatch: pytest.MonkeyPatch) -> None:
    nothing = JailReport(tier=None, attempts=())
    monkeypatch.setattr("coterie.runtime.jail.detect.detect", lambda: nothing)
    with pytest.raises(JailError, match="no jail"):
        scored(task, RIGHT)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"repo": None}, "needs a 'repo'"),
        ({"answer": {"instance_id": "a"}}, "the answer of task 'small__doubling-1': the field"),
    ],
)
def test_a_task_of_another_kind(task: Task, changes: dict[str, object], message: str) -> None:
    with pytest.raises(ScorerError, match=message):
        scored(replace(task, **changes), RIGHT)  # pyright: ignore[reportArgumentType]
