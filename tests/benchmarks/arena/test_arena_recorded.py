"""The recorded arena of examples/arena: journals lead to the same figures, and no server starts."""

import json
import tarfile
from pathlib import Path
from types import SimpleNamespace

import pytest

from coterie.benchmarks.command import main
from coterie.runtime.local import server

from ...support.commands import invoked_in

EXAMPLE = Path(__file__).parents[3] / "examples" / "arena"
CELL = "cells/race/ages/seed_0"
SIXTH = "6/12"
"""The sixth of all cells: the race that handed over a better team."""


async def stop() -> None:
    """Stop what was never started."""


def test_a_race_whose_operator_is_a_large_model_replays_to_its_last_word(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "LocalServer", lambda _: SimpleNamespace(stop=stop))
    monkeypatch.setattr("coterie.runtime.local.weights.pull", lambda: None)
    monkeypatch.setattr("coterie.runtime.command.models.pull_with_progress", lambda: None)
    with tarfile.open(EXAMPLE / "written.tar.xz") as recorded:
        recorded.extract(f"{CELL}/evolutions/cell/journal.log", tmp_path, filter="data")
        race = read(recorded, f"recorded/{CELL}/race.json")
        cells = json.loads(read(recorded, "arena.json"))["cells"]
    assert {"ended", "last_word"} <= json.loads(race).keys()
    words = ["arena", str(EXAMPLE / "written.yaml"), "--results", str(tmp_path), "--shard", SIXTH]
    models = ["--model", "local", "--model", "writer=inbox:box", "--quiet"]
    invoked_in(tmp_path, main, [*words, *models], "mas-bench").ended(0)
    assert (tmp_path / CELL / "evolutions/cell/race.json").read_bytes() == race
    assert json.loads((tmp_path / CELL / "evolutions/cell/heldout.json").read_text())["after"] == 60
    [cell] = json.loads((tmp_path / "arena.json").read_text())["cells"]
    assert cell == next(each for each in cells if each["folder"] == CELL)
    assert not (tmp_path / "box").exists()


def read(archive: tarfile.TarFile, name: str) -> bytes:
    """Return the content of a file of the archive."""
    return (archive.extractfile(name) or pytest.fail(f"no {name}")).read()
