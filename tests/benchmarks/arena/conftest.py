"""`mas-bench arena` in a folder of its own, with a model that is right once it is told to think."""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from coterie.benchmarks.command import main
from coterie.runtime.doubles import Call, Reply, ScriptedModel
from coterie.runtime.doubles.script import Request

from ...operators.command.conftest import thinking
from ...support.commands import CommandResult, invoked_in

TEAM = 'name: solo\nagents:\n  one: {prompt: "You are alone."}\n'
SEARCH = (
    "settings: {parents: 1, steps: 1, instantiate: false, components: [prompts], moves: [mutate],"
    " choice: chance, select: statistics, parent: best, admission: best, memory: 0}"
)
ARENA = f"""\
team: solo.yaml
cap: calls=9
test_cap: calls=8
seeds: 2
streams:
  mine: {{from: all.jsonl, evolve: 4, test: 4}}
methods:
  team as it is:
  evomas: {{{SEARCH}}}
  best of n: {{seeds: [team], settings: {{parents: 2, steps: 1}}}}
"""
TASKS = [{"id": f"t{n}", "query": f"What is {n} + {7 - n}?", "answer": "7"} for n in range(20)]


USAGE = {"prompt_tokens": 7, "completion_tokens": 4, "total_tokens": 11}


def metered(request: Request) -> Reply:
    """Think, at 11 tokens a call."""
    return thinking(request).replace(usage=USAGE)


@dataclass(kw_only=True)
class Hall:
    """A folder in which somebody uses `mas-bench arena`."""

    folder: Path
    calls: list[Call] = field(default_factory=list[Call])

    def write(self, text: str, name: str = "arena.yaml") -> None:
        (self.folder / name).write_text(text)

    def run(
        self, *words: str, script: Callable[[Request], Reply] = metered, out: str = "out"
    ) -> CommandResult:
        """Run the arena with a model that is there."""
        with ScriptedModel(script) as model:
            result = self.command("--results", out, "--model", f"m@{model.api_base}", *words)
            self.calls = list(model.calls)
        return result

    def command(self, *words: str) -> CommandResult:
        return invoked_in(self.folder, main, ["arena", "arena.yaml", *words], "mas-bench")

    def files(self, out: str = "out") -> dict[str, bytes]:
        """Return the files of the table."""
        return {path.name: path.read_bytes() for path in (self.folder / out).glob("*.*")}

    def value(self, out: str = "out") -> Any:
        return json.loads((self.folder / out / "arena.json").read_text())


def make_hall(folder: Path) -> Hall:
    hall = Hall(folder=folder)
    hall.write(ARENA)
    hall.write(TEAM, "solo.yaml")
    hall.write("".join(json.dumps(task) + "\n" for task in TASKS), "all.jsonl")
    return hall


@pytest.fixture
def hall(tmp_path: Path) -> Hall:
    return make_hall(tmp_path)


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Hall:
    """An arena that was run once, to the end."""
    hall = make_hall(tmp_path_factory.mktemp("hall"))
    hall.run().ended(0)
    return hall
