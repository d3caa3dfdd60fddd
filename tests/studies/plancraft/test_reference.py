"""Episodes that were recorded with the package's own evaluator, played again here."""

import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from coterie.benchmarks.plancraft import CraftingWorld
from coterie.schema.values.codec import from_value, to_value
from studies.plancraft.__main__ import main
from studies.plancraft.reference import Played, Reference, difference

from ...benchmarks.plancraft.recording import episodes


@pytest.fixture(scope="session")
def package() -> Path:
    """The folder that has the package itself."""
    named = os.environ.get("MAS_PLANCRAFT_PACKAGE")
    if not named:
        pytest.skip("MAS_PLANCRAFT_PACKAGE names no folder of the package")
    return Path(named)


@pytest.mark.parametrize(("world", "impossible", "played"), episodes())
def test_all_is_as_the_package_says(world: CraftingWorld, impossible: bool, played: Played) -> None:
    assert difference(world, played, impossible=impossible) == ""


def test_a_world_survives_being_written() -> None:
    for world, _, _ in episodes():
        assert from_value(CraftingWorld, json.loads(json.dumps(to_value(world)))) == world


def test_what_was_recorded_ends_in_every_way() -> None:
    ends = {(played.success, impossible) for _, impossible, played in episodes()}
    assert ends == {(True, True), (True, False), (False, True), (False, False)}
    assert max(played.steps for _, _, played in episodes()) == 30


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"success": True}, "success False after 30, not True after 30"),
        ({"steps": 29}, "success False after 30, not False after 29"),
        ({"told": ("?",) * 30}, "before action 1: 'Craft an item of type: "),
    ],
)
def test_a_difference_is_told(changed: dict[str, Any], message: str) -> None:
    world, impossible, played = next(
        episode for episode in episodes() if not episode[2].success and episode[2].steps == 30
    )
    assert difference(world, replace(played, **changed), impossible=impossible).startswith(message)


@pytest.mark.nightly
def test_what_was_recorded_is_what_the_package_says(package: Path) -> None:
    with Reference(package) as reference:
        for world, impossible, played in episodes():
            assert reference.play(world, impossible=impossible, texts=played.said) == replace(
                played, told=list(played.told)
            )


@pytest.mark.nightly
def test_a_thousand_random_episodes_are_as_the_package_has_them(package: Path) -> None:
    done = CliRunner().invoke(main, ["verify", "--package", str(package)])
    assert done.exit_code == 0, done.output
    assert done.output.startswith("1000 episodes,")
    assert done.output.endswith(": 0 with another text or verdict\n")


@pytest.mark.nightly
def test_the_packages_planner_solves_all_of_the_test_split(package: Path) -> None:
    done = CliRunner().invoke(main, ["oracle", "--package", str(package)])
    assert "test all           580 of    580  1.0000" in done.output
    assert "580 episodes played here as well, 0 with another course" in done.output
