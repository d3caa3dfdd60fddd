"""Recorded arenas of examples/arena: journals lead to the same figures, and no model is asked."""

from __future__ import annotations

import json
import tarfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from coterie.benchmarks.command import main
from coterie.runtime.local import server

from .commands import invoked_in

EXAMPLE = Path(__file__).parents[2] / "examples" / "arena"
LEARNT = "evolutions/cell"
"""The folder of what a cell learnt, in its pool."""


async def nothing() -> None:
    """Start or stop a server that is not there."""


NEVER_STARTED = SimpleNamespace(stop=nothing)
NEVER_ASKED = SimpleNamespace(start=nothing, stop=nothing)
"""The server for a method whose last question is one that its cap refuses."""


def replay(
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    cell: str,
    *,
    name: str,
    shard: str,
    local: SimpleNamespace = NEVER_STARTED,
) -> dict[str, Any]:
    """Replay a cell of an arena from its journal, compare, and return the test's figures."""
    monkeypatch.setattr(server, "LocalServer", lambda _: local)
    monkeypatch.setattr("coterie.runtime.local.weights.pull", lambda: None)
    monkeypatch.setattr("coterie.runtime.command.models.pull_with_progress", lambda: None)
    with tarfile.open(EXAMPLE / f"{name}.tar.xz") as archive:
        archive.extract(f"{cell}/{LEARNT}/journal.log", folder, filter="data")
        own = [each for each in archive.getnames() if each.startswith(f"recorded/{cell}/")]
        recorded = {each.removeprefix(f"recorded/{cell}/"): read(archive, each) for each in own}
        cells = json.loads(read(archive, "arena.json"))["cells"]
    words = ["arena", str(EXAMPLE / f"{name}.yaml"), "--results", str(folder), "--shard", shard]
    models = ["--model", "local", "--model", "writer=inbox:box", "--quiet"]
    result = invoked_in(folder, main, [*words, *models], "mas-bench")
    assert result.code == 0, result.err
    assert recorded
    learnt = folder / cell / LEARNT
    assert recorded == {each: (learnt / each).read_bytes() for each in recorded}
    [now] = json.loads((folder / "arena.json").read_text())["cells"]
    assert now == next(each for each in cells if each["folder"] == cell)
    assert not (folder / "box").exists()
    return json.loads((learnt / "heldout.json").read_text())


def read(archive: tarfile.TarFile, name: str) -> bytes:
    """Return the content of a file of the archive."""
    return (archive.extractfile(name) or pytest.fail(f"no {name}")).read()
