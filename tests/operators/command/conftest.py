"""`mas-evolve` in a folder of its own, with a model that is right once it is told to think."""

import functools
import json
import shutil
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from coterie.operators.command.evolve import main
from coterie.pool.ledger.ledger import Ledger
from coterie.runtime.command.view import main as mas_view
from coterie.runtime.doubles import Reply, ScriptedModel, message_text
from coterie.runtime.doubles.script import Request

from ...support.commands import CommandResult, invoked
from ..evolving import TEAMS, asked
from .acting import files, make_world
from .blaming import Cli, Stage

RECIPE = """\
strategy: evomas
seeds: [solo.yaml, pair.yaml]
settings: {
  parents: 2, steps: 1, instantiate: false, components: [prompts], moves: [mutate], choice: chance,
  select: statistics, parent: best, admission: best, memory: 0
}
"""
TASKS = [{"id": f"t{n}", "query": f"What is {n} + {7 - n}?", "answer": "7"} for n in range(6)]
HELD_OUT = [
    {"id": f"h{n}", "query": f"What is {9 + n} - {2 + n}?", "answer": "7"} for n in range(4)
]


def thinking(request: Request) -> Reply:
    """Agents are right when told to think; operators tell them so."""
    wanted = asked(request)
    if "edits" in wanted:
        agent = "two" if '"two"' in json.dumps(wanted) else "one"
        edit = {"set_prompt": {"agent": agent, "prompt": "Think."}}
        return Reply.json({"reason": "it did not think", "edits": [edit]})
    if wanted:
        return Reply.json({"nonsense": 0})
    return Reply(text="7" if "Think." in message_text(request) else "8")


def judging(score: object) -> Callable[[Request], Reply]:
    def script(request: Request) -> Reply:
        if "score" in asked(request):
            return Reply.json({"reason": "So it is.", "score": score})
        return thinking(request)

    return script


@dataclass(kw_only=True)
class Lab:
    """A folder in which somebody uses `mas-evolve`.

    Attributes:
        pools: Makes a pool by so many tasks, once for all tests.
    """

    folder: Path
    pools: Callable[[int], Path]

    def write(self, name: str, text: str) -> None:
        (self.folder / name).write_text(text)

    def tasks(self, name: str, values: list[dict[str, Any]]) -> None:
        self.write(name, "".join(json.dumps(value) + "\n" for value in values))

    def evolve(
        self,
        *words: str,
        pool: str = "pool",
        script: Callable[[Request], Reply] = thinking,
        name: str = "m",
    ) -> CommandResult:
        """Evolve with a model that is there."""
        with ScriptedModel(script) as model:
            result = self.command(
                *("recipe.yaml", "tasks.jsonl", "--pool", pool),
                *("--model", f"{name}@{model.api_base}", *words),
            )
            result.calls = len(model.calls)
            return result

    def evolved(self, tasks: int) -> None:
        """Have a pool that was evolved by so many tasks."""
        shutil.copytree(self.pools(tasks), self.folder / "pool")

    def command(self, *words: str) -> CommandResult:
        return invoked(main, words, "mas-evolve")

    def report(self, *words: str) -> CommandResult:
        return invoked(mas_view, ["--text", *words], "mas-view")

    def ledger(self, pool: str = "pool") -> list[Any]:
        return [entry.value for entry in Ledger(self.folder / pool / "ledger.jsonl").read()]

    def turns(self, pool: str = "pool") -> list[Any]:
        path = self.folder / pool / "evolutions" / "recipe" / "turns.jsonl"
        return [entry.value for entry in Ledger(path).read()]


@pytest.fixture(scope="session")
def pools(tmp_path_factory: pytest.TempPathFactory) -> Callable[[int], Path]:
    @functools.cache
    def evolved(tasks: int) -> Path:
        with pytest.MonkeyPatch.context() as patch:
            lab = furnished(tmp_path_factory.mktemp("evolved"), evolved, patch)
            assert lab.evolve("--limit", str(tasks)).code == 0
        return lab.folder / "pool"

    return evolved


@pytest.fixture
def lab(tmp_path: Path, pools: Callable[[int], Path], monkeypatch: pytest.MonkeyPatch) -> Lab:
    return furnished(tmp_path, pools, monkeypatch)


def furnished(folder: Path, pools: Callable[[int], Path], patch: pytest.MonkeyPatch) -> Lab:
    """Return a lab with all that an evolution begins with, and go there."""
    lab = Lab(folder=folder, pools=pools)
    for name, text in TEAMS.items():
        lab.write(f"{name}.yaml", text)
    lab.write("recipe.yaml", RECIPE)
    lab.tasks("tasks.jsonl", TASKS)
    lab.tasks("test.jsonl", HELD_OUT)
    patch.chdir(folder)
    patch.setenv("MAS_HOME", str(folder))
    patch.setattr(sys, "argv", ["/usr/bin/mas-evolve", "recipe.yaml", "tasks.jsonl"])
    return lab


@pytest.fixture(scope="session")
def made_world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("world")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MAS_HOME", str(folder))
        make_world(folder)
    return folder


@pytest.fixture
def world(made_world: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of one's own with all that operators act on."""
    folder = tmp_path / "world"
    shutil.copytree(made_world, folder)
    return _entered(folder, monkeypatch)


@pytest.fixture(scope="session")
def untouched_world(made_world: Path) -> Iterator[Path]:
    before = files(made_world)
    yield made_world
    assert files(made_world) == before


@pytest.fixture
def shared_world(untouched_world: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The same folder for all tests that change nothing in it, which is checked at the end."""
    return _entered(untouched_world, monkeypatch)


def _entered(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(folder)
    monkeypatch.setenv("MAS_HOME", str(folder))
    return folder


@pytest.fixture
def stage() -> Stage:
    return Stage()


@pytest.fixture
def cli(stage: Stage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Cli]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MAS_HOME", str(tmp_path))
    with ScriptedModel(stage) as model:
        yield Cli(folder=tmp_path, model=model)
