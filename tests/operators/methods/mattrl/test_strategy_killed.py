"""Kill -9 while experience is built: the same command goes on to the same entries."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from coterie.operators.command.evolve import main
from coterie.runtime.doubles import ScriptedModel

from ....came import invoked
from ...consulting import WARD, doctors
from ...evolving import kept, killed_at, write_world

RECIPE = "strategy: mattrl\nseeds: [ward.yaml]\nsettings: {credit: difference}\nworkers: 2\n"


def evolved(pool: str) -> int:
    """Evolve to the end in this process; give how often a model was asked."""
    with ScriptedModel(doctors) as model:
        words = ["recipe.yaml", "tasks.jsonl", "--pool", pool, "--model", f"m@{model.api_base}"]
        result = invoked(main, words, "mas-evolve")
        assert result.code == 0, result.err
        return len(model.calls)


def test_killed_at_random_moments_it_comes_to_the_same_entries(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, nightly: bool
) -> None:
    folder = write_world(tmp_path, tasks=12 if nightly else 3)
    monkeypatch.chdir(folder)
    monkeypatch.setenv("MAS_HOME", str(folder))
    (folder / "ward.yaml").write_text(WARD)
    (folder / "recipe.yaml").write_text(RECIPE)
    clean = evolved("clean")
    chance, kills = random.Random(7), 0
    for _ in range(20 if nightly else 1):
        moment = chance.randint(1, clean - 1)
        was_killed, _ = killed_at(folder, "killed", moment, script=doctors)
        kills += was_killed
    evolved("killed")
    assert kills > 0
    assert '"experience"' in (folder / "clean/ledger.jsonl").read_text()
    assert kept(folder / "killed") == kept(folder / "clean")
