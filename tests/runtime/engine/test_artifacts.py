"""Files that agents write: kept with the run, bounded, and without what nobody may have."""

import asyncio
import json
import os
import shutil
from pathlib import Path

import pytest

from coterie.runtime.command.run import main
from coterie.runtime.doubles import Reply, ScriptedModel
from coterie.runtime.engine import artifacts
from coterie.runtime.engine.artifacts import keep_written
from coterie.runtime.jail.detect import detect
from coterie.runtime.repository.workspace import Workspaces
from coterie.schema import Task

from ...support.commands import invoked_in

TEAM = "name: t\nagents:\n  one: {prompt: Code., agent_type: CodeAgent, max_steps: 2}\n"
TASK = Task(id="t", query="Write.", files={"given.txt": "given", "edited.txt": "before"})


def kept(write: object) -> tuple[dict[str, bytes], object]:
    """What is kept of a workspace in which somebody wrote."""
    fields: dict[str, bytes] = {}

    def keep(_agent: str, files: object) -> list[str]:
        fields.update(files)  # type: ignore[arg-type]
        return [*fields]

    with Workspaces(TASK) as home:
        workspace = home.of("one", 1)
        if write is not None:
            write(workspace.path)  # type: ignore[operator]
        report = asyncio.run(keep_written("one", workspace, keep))
    return fields, report


def test_what_is_new_or_changed_is_kept_and_what_the_task_brought_is_not(tmp_path: Path) -> None:
    def write(path: Path) -> None:
        (path / "edited.txt").write_text("after")
        (path / "sub").mkdir()
        (path / "sub" / "out.bin").write_bytes(b"\xff")
        (path / "__pycache__").mkdir()
        (path / "__pycache__" / "x.pyc").write_bytes(b"x")
        (tmp_path / "secret").write_text("the host's")
        (path / "link").symlink_to(tmp_path / "secret")
        os.link(tmp_path / "secret", path / "hard")

    fields, value = kept(write)
    assert fields == {"edited.txt": b"after", "sub/out.bin": b"\xff"}
    assert value == {"files": ["edited.txt", "sub/out.bin"], "left_out": 2}


def test_nothing_is_told_where_nothing_was_written() -> None:
    assert kept(None) == ({}, None)
    assert kept(lambda _path: None) == ({}, None)


def test_a_workspace_that_was_taken_away_is_no_failure() -> None:
    assert kept(shutil.rmtree) == ({}, {"files": [], "left_out": 1})


def test_too_many_and_too_large_files_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(artifacts, "MOST_FILES", 2)
    monkeypatch.setattr(artifacts, "MOST_BYTES", 10)

    def write(path: Path) -> None:
        for name, size in {"a": 4, "b": 11, "c": 4, "d": 1}.items():
            (path / name).write_bytes(b"x" * size)
        (path / "odd\nname").write_bytes(b"")

    fields, value = kept(write)
    assert [*fields] == ["a", "c"]
    assert value == {"files": ["a", "c"], "left_out": 3}


@pytest.mark.skipif(detect().tier is None, reason="this machine has no jail for agents' code")
def test_a_run_keeps_what_its_agents_write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_SERVICE_API_KEY", "kxv7-vérÿ-secret-value-8123")
    (tmp_path / "team.yaml").write_text(TEAM)
    code = (
        "open('out.txt', 'w').write('made')\n"
        "open('leak.txt', 'w').write('kxv7-vérÿ-' + 'secret-value-8123')\n"
        "final_answer('done')"
    )
    with ScriptedModel({"": Reply.code(code)}) as model:
        words = ["team.yaml", "-q", "Write.", "--model", f"m@{model.api_base}"]
        result = invoked_in(tmp_path, main, words, "mas-run")
    assert result.code == 0, result.err
    (run,) = (tmp_path / "runs").iterdir()
    assert (run / "artifacts" / "one" / "out.txt").read_text() == "made"
    assert json.loads((run / "result.json").read_text())["artifacts"] == ["artifacts/one/out.txt"]
    events = map(json.loads, (run / "events.jsonl").read_text().splitlines())
    (report,) = (event for event in events if event["type"] == "files_written")
    assert (report["files"], report["left_out"]) == (["out.txt"], 1)
    replayed = invoked_in(tmp_path, main, ["--replay", str(run), "--verify"], "mas-run")
    assert replayed.code == 0, replayed.out
