"""The last race of a pool: its most promising teams run again before one is deployed."""

import json
from pathlib import Path

import pytest

from coterie.operators.methods.race.pool_race import PoolRace
from coterie.pool import Pool, most_promising
from coterie.runtime.doubles import Reply
from coterie.runtime.doubles.script import Request
from coterie.schema import Catalogue

from ....support.commands import CommandResult
from ...evolving import evolve, write_world


def seeds_differ(request: Request) -> Reply:
    """Let the team of one agent be right, and the vote now and then; operators are not usable."""
    if "response_format" in request:
        return Reply.json({})
    text = json.dumps(request["messages"])
    if "You are alone." in text:
        return Reply(text="7")
    return Reply(text="7" if "What is 3" in text else "8")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_world(tmp_path)


def raced(folder: Path) -> CommandResult:
    return evolve(folder, "pool", "--race", "40", "--yes", script=seeds_differ)


def test_what_a_pool_deploys_has_been_run_again(folder: Path) -> None:
    out = raced(folder).ended(0).out
    race = PoolRace.read(folder / "pool")
    assert race is not None
    best, _ = most_promising(Pool.open(folder / "pool", catalogue=Catalogue.of_host()))
    assert (race.first, best.name) == ("solo", "solo")
    assert race.runs > 3
    assert 0 < race.calls <= 40
    assert "last race" in out


def test_raced_again_it_costs_nothing(folder: Path) -> None:
    first = raced(folder).ended(0)
    ledger = (folder / "pool" / "ledger.jsonl").read_text()
    assert raced(folder).ended(0, calls=0).out == first.out
    assert (folder / "pool" / "ledger.jsonl").read_text() == ledger


def test_a_race_of_a_race_is_refused(folder: Path) -> None:
    recipe = folder / "recipe.yaml"
    recipe.write_text("strategy: race\nseeds: [solo.yaml]\n")
    assert "race races by itself" in raced(folder).ended(2, calls=0).err
