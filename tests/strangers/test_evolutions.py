"""Evolutions that are killed, starved and fed nonsense: what they leave is a sound pool."""

import json
import os
import shutil
import signal
import sys
from collections.abc import Mapping
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from coterie.operators.command.evolve import main as mas_evolve
from coterie.pool.command import main as mas_pool
from coterie.pool.ledger.ledger import Ledger
from coterie.runtime.doubles import ScriptedModel

from ..conftest import Draw
from ..operators.evolving import evolve, write_world
from ..support.commands import invoked_in
from ..support.failpoints import armed
from ..support.processes import Child
from .evolutions import STRATEGIES, Stop, World

EACH = 40
"""Evolutions of a strategy."""
MOST_ATTEMPTS = 6
"""How often an evolution is resumed when nothing stops it any more."""
RESUMABLE = {0, 1, 3, -signal.SIGKILL}
"""It ended; a provider or a disk failed; the budget was met; it was killed."""
LINES: Mapping[str, tuple[str, str]] = {
    "evomas": ("evaluated rejected", "twin failed retired learnt"),
    "evochamber": ("evaluated learnt told", "rejected born_agent revised_agent retired_agent"),
    "meta_team": ("evaluated told", "twin failed rejected retired restored"),
    "tacomas": ("", "rejected"),
    "mattrl": ("told", "rejected learnt"),
}
"""Kinds of lines that a strategy writes: those that any few evolutions have, and the others."""
MAY_STAY = "belongs to no "
"""What a kill leaves for good: files without a line, which `mas-pool verify --delete` removes."""


@pytest.fixture(scope="module", autouse=True)
def imported(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Import once what each child would import, by an evolution in this process."""
    folder = write_world(tmp_path_factory.mktemp("imported"), tasks=1)
    evolve(folder, "pool").ended(0)


@dataclass(kw_only=True)
class Evolved:
    """An evolution that was stopped and resumed until it ended.

    Attributes:
        ends: How its processes ended: exit codes, and negative numbers of signals.
        kinds: The kinds of the lines in its ledgers: `rejected`, `born_agent`.
    """

    ends: list[int]
    kinds: set[str]

    @property
    def was_killed(self) -> bool:
        return -signal.SIGKILL in self.ends


def evolved(world: World, folder: Path) -> Evolved:
    """Stop an evolution as its world says and resume it to its end; verify its pools each time."""
    world.write(folder)
    ends, stops = list[int](), [*world.stops, *[None] * MOST_ATTEMPTS]
    with ScriptedModel(world.mind) as model:
        while ends[-1:] != [0]:
            assert len(ends) < len(stops), (
                f"it never ends: {ends} {(folder / 'output').read_text()}"
            )
            ends.append(attempt(world, folder, model.api_base, stops[len(ends)]))
            for pool in world.pools:
                verify(folder, pool, ended=ends[-1] == 0)
    ledgers = [Ledger(folder / pool / "ledger.jsonl") for pool in world.pools]
    return Evolved(
        ends=ends, kinds={kind_of(line.value) for ledger in ledgers for line in ledger.read()}
    )


def attempt(world: World, folder: Path, address: str, stop: Stop | None) -> int:
    """Return the command once, until it ends or is stopped; return how it ended."""
    words = ["recipe.yaml", "tasks.jsonl", *world.words, "--model", f"m@{address}"]
    world.mind.begin(stop)
    ready, go = os.pipe()

    def evolve() -> None:
        os.read(ready, 1)
        os.chdir(folder)
        os.environ["MAS_HOME"] = str(folder)
        sys.argv = ["mas-evolve", *words]
        with (
            Path("output").open("w") as output, redirect_stdout(output), redirect_stderr(output),
            armed(stop.failpoint if stop else ""),
        ):  # fmt: skip
            mas_evolve([*words, *(stop.words if stop else ())], prog_name="mas-evolve")

    child = Child(evolve)
    world.mind.pid = child.id
    os.write(go, b"!")  # it asks no model before the model knows whom to kill
    os.close(ready)
    os.close(go)
    status = child.wait()
    assert status in RESUMABLE, f"it ended with {status}: {(folder / 'output').read_text()}"
    return status


def verify(folder: Path, pool: str, *, ended: bool) -> None:
    """Have `mas-pool verify` call a pool sound, where there is one."""
    if not ended and not (folder / pool / "ledger.jsonl").exists():
        return  # it was stopped before there was a pool
    result = invoked_in(folder, mas_pool, ["verify", pool, "--json"], "mas-pool")
    assert (result.code, result.json["faults"]) == (0, []), result.out
    if ended:
        left = [note for note in result.json["notes"] if MAY_STAY not in note]
        assert left == [], "the end should have mended what a kill left"


def kind_of(value: Mapping[str, Any]) -> str:
    """Name a kind of line, and whether it is about an agent, where it may be about a team too."""
    return f"{value['kind']}{'_agent' if 'agent' in value else ''}"


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_killed_pools_are_sound(strategy: str, tmp_path: Path, drawn: Draw, nightly: bool) -> None:
    kinds, killed, numbers = (
        set[str](),
        0,
        drawn(range(EACH))[slice(None) if nightly else slice(1, 2)],
    )
    for number in numbers:
        folder = tmp_path / str(number)
        folder.mkdir()
        try:
            result = evolved(World.drawn(strategy, number), folder)
        except AssertionError as error:
            raise AssertionError(f"World.drawn({strategy!r}, {number}): {error}") from error
        kinds |= result.kinds
        killed += result.was_killed
        shutil.rmtree(folder)
    assert killed >= (len(numbers) * 3 / 4 if nightly else 1)
    often, seldom = (words.split() for words in LINES[strategy])
    expected = {"pool", "born", *often, *(seldom if nightly else ())}
    assert expected <= kinds, "a kind of line was never there to be verified"
    assert kinds <= expected | {*seldom}, "a kind of line is new: expect it above"


def test_no_two_evolutions_are_alike() -> None:
    worlds = [World.drawn(strategy, number) for strategy in STRATEGIES for number in range(EACH)]
    assert len({json.dumps([world.recipe, world.tasks, world.words]) for world in worlds}) == len(
        worlds
    )
