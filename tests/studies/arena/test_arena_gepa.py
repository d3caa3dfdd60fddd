"""GEPA in an arena: it gains under the cap of a cell, what was tested stays, and records replay."""

import json
from pathlib import Path
from typing import Any

import pytest

from studies.arena import bridge
from studies.arena.worlds import PLUGIN, Arena
from studies.plugin import register

from ...support.recorded import NEVER_ASKED, replay
from .conftest import arena_of

METHODS = ("team as it is", "gepa")


def cells(arena: Arena) -> dict[str, Any]:
    value = json.loads((arena.results / "arena.json").read_text())
    return {cell["method"]: cell for cell in value["cells"]}


@pytest.mark.usefixtures("own_path")
def test_gepa_writes_a_better_prompt_in_its_cap_and_resumes_uncalled(tmp_path: Path) -> None:
    pytest.importorskip("gepa")
    arena = arena_of(tmp_path, *METHODS, cap=50)
    table = arena.run()
    found = cells(arena)
    assert found["gepa"]["learning"]["calls"] == 50
    assert found["gepa"]["score"] > found["team as it is"]["score"]
    assert arena.run() == table


@pytest.mark.usefixtures("own_path")
def test_a_cap_too_small_to_validate_the_original_hands_it_over(tmp_path: Path) -> None:
    pytest.importorskip("gepa")
    arena = arena_of(tmp_path, *METHODS, cap=5)
    arena.run()
    found = cells(arena)
    assert found["gepa"]["deployed"] == found["team as it is"]["deployed"] == "coder"
    assert found["gepa"]["learning"]["calls"] == 5


@pytest.mark.usefixtures("own_path")
def test_a_failure_is_reported_and_never_taken_for_a_method_that_finds_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("gepa")
    monkeypatch.setattr(bridge, "structured", lambda *_, **__: {}["no such key"])
    with pytest.raises(RuntimeError, match="gepa failed: KeyError: 'no such key'"):
        arena_of(tmp_path, *METHODS, cap=50).run()


@pytest.mark.usefixtures("own_path")
def test_a_recorded_cell_whose_operator_is_a_large_model_replays_without_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("gepa")
    register(PLUGIN)
    cell = "cells/gepa/ages/seed_0"
    figures = replay(tmp_path, monkeypatch, cell, name="gepa", shard="8/16", local=NEVER_ASKED)
    assert figures["control"] == "reader"
