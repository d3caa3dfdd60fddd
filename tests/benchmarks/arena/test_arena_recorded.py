"""The recorded arena of examples/arena: journals lead to the same figures, and nobody is asked."""

from __future__ import annotations

import json
import tarfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from coterie.benchmarks.command import main
from coterie.runtime.local import server

from ...support.commands import invoked_in

EXAMPLE = Path(__file__).parents[3] / "examples" / "arena"
CELL = "cells/race/dates/seed_0"
THIRD = ["--shard", "3/12"]
"""The third of all cells: the first race."""


async def nobody() -> None:
    """Stop what was never started."""


async def start_server(*_: object) -> Any:
    """Return a server whose answers never come."""
    return SimpleNamespace(api_base="http://127.0.0.1:9/v1", key="", stop=nobody)


def test_a_race_whose_operator_is_a_large_model_replays_from_its_journal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "start_server", start_server)
    monkeypatch.setattr("coterie.runtime.command.models.pull_with_progress", lambda: None)
    with tarfile.open(EXAMPLE / "written.tar.xz") as recorded:
        recorded.extract(f"{CELL}/evolutions/cell/journal.log", tmp_path, filter="data")
        value = json.load(recorded.extractfile("arena.json") or pytest.fail("no arena.json"))
    words = ["arena", str(EXAMPLE / "written.yaml"), "--results", str(tmp_path), *THIRD, "--quiet"]
    models = ["--model", "local", "--model", "writer=inbox:box"]
    result = invoked_in(tmp_path, main, [*words, *models], "mas-bench")
    assert result.code == 0, result.err
    [cell] = json.loads((tmp_path / "arena.json").read_text())["cells"]
    assert cell in value["cells"]
    assert not (tmp_path / "box").exists()
