"""Pools that strangers made: a command refuses one with a link in it, and writes nowhere."""

import json
import os
import re
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import click
import pytest

from coterie.operators.command.evolve import main as mas_evolve
from coterie.operators.command.op.command import main as mas_op
from coterie.pool import Pool
from coterie.pool.command import main as mas_pool
from coterie.pool.ledger.changes import Added
from coterie.runtime.command.run import main as mas_run
from coterie.runtime.command.view import main as mas_view
from coterie.runtime.doubles import ScriptedModel
from coterie.schema import Agent, Lineage

from ..support.commands import CommandResult, invoked_in
from ..support.shares import every
from .links import CANARY, KINDS

FILES = {
    "recipe.yaml": (
        "strategy: evomas\n"
        "seeds: [solo.yaml]\n"
        "settings: {parents: 1, steps: 1, instantiate: false, components: [prompts],"
        " moves: [mutate], choice: chance, select: statistics, parent: best, admission: best,"
        " memory: 0}\n"
    ),
    "solo.yaml": 'name: solo\nagents:\n  one: {prompt: "You are alone."}\n',
    "recalling.yaml": 'name: recalling\nagents:\n  one: {prompt: "Recall.", recall: {k: 1}}\n',
    "tasks.jsonl": json.dumps({"id": "t0", "query": "What is 3 + 4?", "answer": "7"}) + "\n",
}
PLANTED = {
    "scaffold/team.yaml": FILES["solo.yaml"],
    "memory/.cache/vectors.sqlite": "",
    "memory/experience.jsonl": "",
    "evolutions/recipe/episodes/000000/events.jsonl": "",
    ".cache/000000000000009.snapshot": "",
}
PARTS = (
    "teams", "teams/solo.yaml", "ledger.jsonl", ".ledger.jsonl.lock", ".pool.lock", ".gitignore",
    ".gitattributes", "agents", "agents/ada", "agents/ada/agent.yaml", "agents/ada/prompt.md",
    "agents/ada/lessons.jsonl", "evolutions", "evolutions/recipe",
    "evolutions/recipe/evolution.json", "evolutions/recipe/turns.jsonl",
    "evolutions/recipe/journal.log", "evolutions/recipe/episodes/000000",
    "evolutions/recipe/episodes/000000/events.jsonl", "scaffold", "scaffold/team.yaml", ".cache",
    ".cache/000000000000009.snapshot", "memory", "memory/.cache", "memory/.cache/vectors.sqlite",
    "memory/experience.jsonl",
)  # fmt: skip
MODEL = ("--model", "MODEL")
EVOLVE = ("recipe.yaml", "tasks.jsonl", "--pool", "pool", *MODEL)
COMMANDS: Sequence[tuple[click.Command, Sequence[str]]] = (
    (mas_evolve, EVOLVE),
    (mas_evolve, (*EVOLVE, "--name", "another")),
    (mas_view, ("--text", "pool")),
    (mas_view, ("pool/evolutions/recipe", "t0")),
    (mas_run, ("recalling.yaml", "-q", "Well?", "--pool", "pool", *MODEL)),
    (mas_view, ("pool", "--output", "page.html")),
    (mas_op, ("fork", "pool", "ada", "--niche", "sums", "--keep", *MODEL)),
    (mas_op, ("prune", "pool", "ada", "--keep", *MODEL)),
    (mas_pool, ("init", "pool", "solo.yaml")),
    (mas_pool, ("list", "pool")),
    (mas_pool, ("agents", "pool")),
    (mas_pool, ("population", "pool")),
    (mas_pool, ("show", "pool", "solo")),
    (mas_pool, ("log", "pool", "ada")),
    (mas_pool, ("memory", "pool")),
    (mas_pool, ("lineage", "pool")),
    (mas_pool, ("origin", "pool", "solo")),
    (mas_pool, ("best", "pool")),
    (mas_pool, ("import", "pool", "recalling.yaml")),
    (mas_pool, ("import", "honest", "pool")),
    (mas_pool, ("merge", "pool", "honest")),
    (mas_pool, ("merge", "honest", "pool")),
    (mas_pool, ("merge", "honest", "pool", "--into", "both")),
    (mas_pool, ("git", "pool")),
    (mas_pool, ("report", "pool", "--since", "HEAD")),
    (mas_pool, ("retire", "pool", "solo", "--reason", "old")),
    (mas_pool, ("restore", "pool", "solo")),
    (mas_pool, ("adopt", "pool")),
    (mas_pool, ("verify", "pool")),
    (mas_pool, ("verify", "pool", "--repair")),
    (mas_pool, ("verify", "pool", "--delete")),
)
EPISODES = "evolutions/recipe/episodes/"
WHOLE = [0, 1, 2, 3, 5, 20, 21, 22]
"""The commands that look into episodes, and so make sure of them."""


def variants() -> Iterator[tuple[str, str, int]]:
    """Yield each part as each kind of link, each time with the next of the commands."""
    number = 0
    for part in PARTS:
        for kind in KINDS:
            yield part, kind, number % len(COMMANDS)
            number += 1


@dataclass(frozen=True, kw_only=True)
class Scene:
    """A model that is never to be called, and a folder with honest pools to copy."""

    model: ScriptedModel
    template: Path


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    folder = tmp_path_factory.mktemp("pools")
    with ScriptedModel("7") as model:
        for name, text in FILES.items():
            (folder / name).write_text(text)
        run(folder, model, mas_evolve, EVOLVE).ended(0)
        pool = Pool.open(folder / "pool")
        ada = Agent(id="ada", prompt="You are called Ada.")
        pool.commit(Added(member=ada, lineage=Lineage(operator="genesis")), op="begin/ada")
        shutil.copytree(folder / "pool", folder / "honest")
        for name, text in PLANTED.items():
            (folder / "pool" / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / "pool" / name).write_text(text)
        (folder / "pool/agents/ada/lessons.jsonl").touch()
        yield Scene(model=model, template=folder)


@pytest.fixture
def folder(tmp_path: Path, scene: Scene) -> Path:
    return Path(shutil.copytree(scene.template, tmp_path / "here"))


def run(
    folder: Path, model: ScriptedModel, command: click.Command, words: Sequence[str]
) -> CommandResult:
    already = len(model.calls)
    given = [f"scripted@{model.api_base}" if word == "MODEL" else word for word in words]
    result = invoked_in(folder, command, given, command.name or "mas")
    result.asked = [*model.calls[already:]]
    return result


def state(folder: Path) -> dict[str, object]:
    """Return all that is in a folder: texts of files, and where links lead."""
    fields: dict[str, object] = {}
    for place, folders, files in os.walk(folder):
        for name in (*folders, *files):
            path = Path(place, name)
            regular = path.is_file() and not path.is_symlink()
            linked = str(path.readlink()) if path.is_symlink() else ""
            fields[str(path.relative_to(folder))] = path.read_bytes() if regular else linked
    return fields


def check_refused(result: CommandResult, folder: Path) -> None:
    """Make sure that one line names what is no file or folder of the pool's own."""
    assert (result.code, result.out, result.asked) == (2, "", []), result.err
    named = re.search(
        r"^(?:error: )?(\S+) is (a link|a hard link|neither)", result.err, re.MULTILINE
    )
    assert named, result.err
    path = folder / named[1]
    assert not path.is_dir() or path.is_symlink()
    assert not path.is_file() or path.is_symlink() or path.stat().st_nlink > 1
    assert "Traceback" not in result.err


@pytest.mark.parametrize(("part", "kind", "number"), every(7, variants()))
def test_a_pool_with_a_link_in_it_is_refused_and_nothing_is_written(
    part: str, kind: str, number: int, folder: Path, scene: Scene
) -> None:
    path, outside = folder / "pool" / part, folder.parent / "outside"
    outside.mkdir()
    (outside / "canary").write_text(CANARY)
    path.rename(outside / path.name)
    if kind == "hard" and (outside / path.name).is_dir():
        (outside / path.name / "canary").write_text(CANARY)
    KINDS[kind](path, outside / path.name)
    before = state(folder), state(outside)
    if part.startswith(EPISODES):
        number = WHOLE[number % len(WHOLE)]
    command, words = COMMANDS[number]
    result = run(folder, scene.model, command, words)
    if command is mas_view and part == "ledger.jsonl":  # a folder without one is no pool
        assert (result.code, result.out) == (2, "")
    else:
        check_refused(result, folder)
    assert (state(folder), state(outside)) == before


@pytest.mark.parametrize(
    ("part", "number"),
    [
        *(("teams", number) for number in range(len(COMMANDS))),
        *(("evolutions/recipe/episodes/000000/events.jsonl", number) for number in WHOLE),
    ],
)
def test_every_command_refuses_it(part: str, number: int, folder: Path, scene: Scene) -> None:
    (folder / "pool" / part).rename(folder / "moved")
    (folder / "pool" / part).symlink_to(folder / "moved")
    before = state(folder)
    check_refused(run(folder, scene.model, *COMMANDS[number]), folder)
    assert state(folder) == before


def test_the_folder_of_the_pool_itself_may_be_a_link(folder: Path, scene: Scene) -> None:
    (folder / "link").symlink_to("honest")
    for words in (
        ("list", "link"),
        ("verify", "link"),
        ("retire", "link", "solo", "--reason", "old"),
    ):
        run(folder, scene.model, mas_pool, words).ended(0)


def test_no_pool_below_the_folder_of_several_may_be_a_link(folder: Path, scene: Scene) -> None:
    (folder / "several").mkdir()
    (folder / "honest").rename(folder / "outside")
    (folder / "several/seed_1").symlink_to(folder / "outside")
    before = state(folder)
    words = ("recipe.yaml", "tasks.jsonl", "--pool", "several", "--seeds", "2", *MODEL)
    check_refused(run(folder, scene.model, mas_evolve, words), folder)
    assert state(folder) == before
