"""`mas-op appraise` and `distil`: on the folder of a run, without asking its agents again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from coterie.runtime.command.run import main as mas_run

from ..consulting import FORGETFUL, doctors
from .test_readers import TASK, Did, mas


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a run of a team that consults."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MAS_HOME", str(tmp_path))
    (tmp_path / "ward.yaml").write_text(FORGETFUL)
    (tmp_path / "task.json").write_text(json.dumps(TASK))
    done = mas("ward.yaml", "task.json", "--quiet", replies=doctors, command=mas_run)
    assert done.code == 0, done.err
    [run] = (tmp_path / "runs").iterdir()
    run.rename(tmp_path / "run")
    return tmp_path


def appraised(*more: str, replies: Any = doctors) -> Did:
    return mas("appraise", "run", *more, replies=replies)


def test_every_utterance_of_a_run_is_scored_and_no_agent_is_asked_again() -> None:
    done = appraised()
    assert done.code == 0, done.err
    said = json.loads(done.out)
    turns = [(one["agent"], one["round"]) for one in said]
    assert turns == [("heart", 1), ("brain", 1), ("heart", 2), ("brain", 2)]
    assert all(0 <= one["score"] <= 1 for one in said)
    assert len(done.calls) == 2
    for call in done.calls:
        assert "<utterance" in call.text
        assert "What is 3 + 4?" in call.text
        assert "sevenish" not in call.text


def test_a_rubric_of_one_s_own_is_what_counts(folder: Path) -> None:
    (folder / "rubric.md").write_text("Only rhymes count.")
    done = appraised("--rubric", "rubric.md")
    assert all("Only rhymes count." in call.text for call in done.calls)


def test_an_utterance_becomes_an_entry_from_scores_that_are_there(folder: Path) -> None:
    (folder / "judged.json").write_text(appraised().out)
    done = mas("distil", "run", "heart", "--judged", "judged.json", replies=doctors)
    assert done.code == 0, done.err
    assert done.out == "When: Two numbers, heart.\nDo: Add.\nWhy: It was right.\n"
    [call] = done.calls
    assert ": heart so" in call.text


def test_without_scores_its_round_is_judged_first() -> None:
    done = mas("distil", "run", "brain", "--round", "1", replies=doctors)
    assert done.code == 0, done.err
    assert len(done.calls) == 2


def test_who_said_nothing_there_is_said_with_who_did() -> None:
    done = mas("distil", "run", "chief")
    assert (done.code, done.calls) == (2, [])
    assert "'chief' said nothing there. Who spoke: heart in round 1, brain in round 1" in done.err


def test_scores_of_something_else_are_refused(folder: Path) -> None:
    (folder / "judged.json").write_text('[{"agent": "brain", "round": 1}]')
    done = mas("distil", "run", "heart", "--judged", "judged.json")
    assert done.code == 2
    assert "not what mas-op appraise writes" in done.err
    (folder / "judged.json").write_text("[]")
    done = mas("distil", "run", "heart", "--judged", "judged.json")
    assert "nothing is said of heart in round 2" in done.err


def test_what_did_not_end_or_was_adapted_is_refused(folder: Path) -> None:
    (folder / "run" / "adapt.yaml").write_text("strategy: tacomas\n")
    done = appraised()
    assert done.code == 2
    assert "this run was adapted" in done.err
    (folder / "run" / "result.json").unlink()
    done = appraised()
    assert done.code == 2
    assert "no run that came to its end" in done.err


def test_a_judge_of_no_use_is_said(folder: Path) -> None:
    done = appraised(replies="no")
    assert done.code == 1
    assert "appraise: the model gave no valid answer" in done.err
