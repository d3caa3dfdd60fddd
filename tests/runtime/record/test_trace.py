"""Traces and run folders: everything is there, no secret is."""

import asyncio
import errno
import json
from pathlib import Path
from typing import Any

import pytest

from coterie.runtime.record.trace import SOON, RunFolder, Trace
from coterie.runtime.scrubbing.scrubber import Scrubber
from coterie.runtime.values.bounds import AT_ONCE
from coterie.schema.values.errors import StorageError


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


def lines_of(folder: RunFolder) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder.path / "events.jsonl").read_text().splitlines()]


def test_events_of_a_run_are_written_together_soon_and_in_order(tmp_path: Path) -> None:
    async def work(trace: Trace) -> None:
        folder.gather(asyncio.get_running_loop())
        for number in range(3):
            trace.emit("step", number=number, said="s3cret-key")
        assert lines_of(folder) == []
        await asyncio.sleep(3 * SOON)
        assert [line["number"] for line in lines_of(folder)] == [0, 1, 2]
        trace.emit("step", number=3)
        await asyncio.to_thread(trace.emit, "step", number=4)  # who is no part of the loop
        assert [line["number"] for line in lines_of(folder)] == [0, 1, 2, 3, 4]
        trace.emit("step", number=5, text="x" * AT_ONCE)
        assert len(lines_of(folder)) == 6
        trace.emit("step", number=6)

    folder = RunFolder.create(tmp_path, "team", "task", Scrubber(["s3cret-key"]))
    asyncio.run(work(Trace(folder)))
    folder.close()
    lines = lines_of(folder)
    assert [line["n"] for line in lines] == [1, 2, 3, 4, 5, 6, 7]
    assert [line["t"] for line in lines] == sorted(line["t"] for line in lines)
    assert {line.get("said") for line in lines} == {"[secret]", None}


def test_who_notes_the_next_event_is_told_that_earlier_ones_were_not_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    async def work(trace: Trace) -> None:
        folder.gather(asyncio.get_running_loop())
        trace.emit("step")
        await asyncio.sleep(3 * SOON)
        trace.check()
        trace.emit("step")
        with pytest.raises(StorageError, match="No space left"):
            trace.check()

    monkeypatch.setattr("coterie.runtime.record.trace._write", full)
    folder = RunFolder.create(tmp_path, "team", "task", Scrubber())
    asyncio.run(work(Trace(folder)))
    with pytest.raises(StorageError, match="No space left"):
        folder.close()
