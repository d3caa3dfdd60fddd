"""Send all methods into an arena of simulated worlds: the first tables of docs/research/arena.md.

The worlds are those of `controls`, where operators write down a convention of codes whatever they
are asked, and agents are more often right if they read it. In `gain` it is always the right one, in
`ideas` one in five, and in `null` none helps.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click
from click.testing import CliRunner

from coterie.benchmarks.arena.declared import known_methods
from coterie.benchmarks.command import main as mas_bench
from coterie.runtime.doubles import ScriptedModel
from coterie.schema.command import Command

from .controls.world import World, tasks
from .simulated import matching, none_matches

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

TEAM = """\
name: coder
agents:
  coder: {prompt: Say the code., temperature: 0}
"""
WORLDS: Mapping[str, World] = {
    "gain": World(name="arena gain"),
    "ideas": World(name="arena ideas", ideas=5),
    "null": World(name="arena null", untaught=0.5, taught=0.5),
}
ITEMS = 4000
SIZES = {"evolve": 40, "test": 12}
CAPS = {"cap": "calls=100", "test_cap": "calls=2000"}


@dataclass(frozen=True, kw_only=True, slots=True)
class Arena:
    """An arena of one world, in a folder that the same command resumes."""

    world: str
    folder: Path
    seeds: int
    methods: Collection[str]

    def write(self) -> Path:
        """Write its files, and return its arena.yaml."""
        self.folder.mkdir(parents=True, exist_ok=True)
        value = {
            "team": "team.yaml",
            **CAPS,
            "seeds": self.seeds,
            "streams": {self.world: {"from": "tasks.jsonl", **SIZES}},
            "methods": dict.fromkeys(self.methods),
        }
        path = self.folder / "arena.yaml"
        for name, text in {
            "team.yaml": TEAM,
            "tasks.jsonl": tasks(0, ITEMS),
            path.name: json.dumps(value),
        }.items():
            (self.folder / name).write_text(text, encoding="utf-8")
        return path

    def run(self, jobs: int) -> str:
        """Run what is open of it, and return its table.

        Raises:
            RuntimeError: A cell was stopped.
        """
        path = self.write()
        with ScriptedModel(WORLDS[self.world]) as model:
            words = ["arena", str(path), "--results", str(self.folder / "results"), "--quiet"]
            words += ["--embedder", "hashing", "--model", f"m@{model.api_base}"]
            result = CliRunner().invoke(mas_bench, [*words, "--jobs", str(jobs)])
        if result.exit_code:
            raise RuntimeError(f"{self.world}: {result.output}") from result.exception
        return result.stdout


@click.command(cls=Command)
@click.argument("worlds", nargs=-1, type=click.Choice([*WORLDS]))
@click.option("--seeds", type=click.IntRange(min=1), default=20, show_default=True)
@click.option("--jobs", type=click.IntRange(min=1), default=2, show_default=True)
@click.option("--rows", multiple=True, default=("*",), help="Only methods whose names match.")
@click.option(
    "--results",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("results/worlds"),
    show_default=True,
)
def main(
    worlds: Sequence[str], *, seeds: int, jobs: int, rows: Sequence[str], results: Path
) -> None:
    """Compare methods in WORLDS; print a table for each. The same command resumes."""
    chosen = matching(known_methods(), rows)
    if not chosen:
        raise none_matches(rows, known_methods())
    methods = [name for name in known_methods() if name in chosen]
    for world in worlds or WORLDS:
        arena = Arena(world=world, folder=results / world, seeds=seeds, methods=methods)
        click.echo(f"## The world {world}\n\n{arena.run(jobs)}")


if __name__ == "__main__":
    main()
