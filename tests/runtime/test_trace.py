"""Traces and run folders: everything is there, no secret is."""

from __future__ import annotations

import json
from pathlib import Path

from coterie.runtime.scrubber import Scrubber
from coterie.runtime.trace import RunFolder, Trace


def test_events_are_numbered_lines_of_json(tmp_path: Path) -> None:
    folder = RunFolder.create(tmp_path, "team", "task", Scrubber())
    trace = Trace(folder)
    trace.emit("run_started", team="team")
    trace.emit("agent_started", "w1", level=0)
    lines = [json.loads(line) for line in (folder.path / "events.jsonl").read_text().splitlines()]
    folder.close()
    assert [line["n"] for line in lines] == [1, 2]
    assert [line["type"] for line in lines] == ["run_started", "agent_started"]
    assert lines[1]["agent"] == "w1"
    assert lines[1]["v"] == 1
    assert 0 <= lines[0]["t"] <= lines[1]["t"]


def test_two_runs_of_one_second_have_two_folders(tmp_path: Path) -> None:
    folders = {RunFolder.create(tmp_path, "team", "task", Scrubber()).path for _ in range(3)}
    assert len(folders) == 3
    assert all(folder.name.partition("Z-")[2].startswith("team-task") for folder in folders)


def test_nobody_listens_and_nothing_happens() -> None:
    Trace().emit("run_started")
