"""A run's folder gives the evidence for the operators' commands."""

import json
from pathlib import Path
from typing import Any

import pytest

from coterie.operators import digest
from coterie.operators.core.recorded import read_run, with_dialogues
from coterie.runtime import run
from coterie.runtime.doubles import ScriptedModel
from coterie.runtime.record.events import all_events_of
from coterie.schema import InputError, load_task

from ..asking import PAIR


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MAS_HOME", str(tmp_path))
    task = {"id": "apples", "query": "How many?", "answer": "Paris"}
    (tmp_path / "task.json").write_text(json.dumps(task))
    with ScriptedModel({"[judge]": "8", "": "maybe 7"}) as model:
        run(
            PAIR,
            load_task(tmp_path / "task.json"),
            model=[f"m@{model.api_base}"],
            runs=tmp_path / "runs",
        )
    [path] = (tmp_path / "runs").iterdir()
    return path


def test_what_was_recorded_is_read(folder: Path) -> None:
    result = read_run(folder)
    assert (result.status, result.answer, result.usage.calls) == ("done", "8", 2)
    assert list(result.agents) == ["worker", "judge"]
    report = digest(result)
    assert "judge: done\n  output: 8" in report
    assert "score: 0" in report
    assert "Paris" not in report
    dialogue = with_dialogues(result, all_events_of(folder), 9_999).agents["judge"].dialogue
    assert (dialogue[-1]["role"], dialogue[-1]["content"]) == ("assistant", "8")


def changed(folder: Path, **fields: Any) -> None:
    path = folder / "result.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **fields}))


def test_agents_without_output_and_runs_without_score_are_read(folder: Path) -> None:
    outcome = {"status": "failed", "content": None, "error": "no", "seconds": 1, "attempts": 1}
    changed(folder, agents={"worker": {**outcome, "mishaps": [], "usage": {}}}, score=None)
    result = read_run(folder)
    assert result.agents["worker"].result is None
    assert "worker: failed; no" in digest(result)


def test_what_is_no_run_is_said(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="this run is unfinished"):
        read_run(tmp_path / "empty")
    changed(folder, agents={"worker": {}})
    with pytest.raises(InputError, match="no record of a run"):
        read_run(folder)
