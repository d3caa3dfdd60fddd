"""The recorded arena of examples/arena: a race whose operator is a large language model."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ...support.recorded import LEARNT, replay

CELL = "cells/race/ages/seed_1"
LAST = "12/12"
"""The last of all cells: the race that handed over a better team."""


def test_a_race_whose_operator_is_a_large_model_replays_to_its_last_word(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert replay(tmp_path, monkeypatch, CELL, name="written", shard=LAST)["after"] == 60
    race = json.loads((tmp_path / CELL / LEARNT / "race.json").read_text())
    assert {"ended", "last_word"} <= race.keys()
