"""Prints the tables of docs/research/calibration.md."""

from __future__ import annotations

import json
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict
from itertools import product
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from coterie.schema.command import Command

from .figure import figure
from .measures import Outcome, deciles, told
from .trials import LOOPS, outcome
from .world import WORLDS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

Cell = tuple[str, int]
"""A world and a number of tasks."""
COLUMNS = (
    "world", "tasks", "repetitions", "teams", "in expected's interval", "in the mean's interval",
    "bias of expected", "highest expected", "highest mean", "frozen: worth more than all",
    "frozen: worth more than founders", "frozen: expected too much",
)  # fmt: skip


@click.command(cls=Command)
@click.option("--repetitions", type=click.IntRange(min=2), default=200, show_default=True)
@click.option(
    "--tasks", type=click.IntRange(min=1), multiple=True, default=(40, 400), show_default=True
)
@click.option(
    "--world",
    "names",
    type=click.Choice([world.name for world in WORLDS]),
    multiple=True,
    help="Only these.",
)
@click.option(
    "--loop",
    type=click.Choice([*LOOPS]),
    default="quick",
    show_default=True,
    help="The pool alone with the episodes in memory, or the whole loop that users have.",
)
@click.option("--jobs", type=click.IntRange(min=1), default=1, show_default=True)
@click.option(
    "--keep",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Keep outcomes in this file, and go on from those that are there.",
)
@click.option(
    "--figure", "drawn", type=click.Path(path_type=Path, dir_okay=False), help="Draw it here."
)
def main(repetitions: int, drawn: Path | None, **options: Any) -> None:
    """Compare what pools say of their teams with what these are worth; print Markdown."""
    loop, keep = str(options["loop"]), options["keep"]
    names = options["names"] or [world.name for world in WORLDS]
    if loop == "whole" and any(world.puzzles > 1 for world in WORLDS if world.name in names):
        raise click.UsageError("in the whole loop tasks are right or wrong: choose a --world.")
    cells: list[Cell] = [*product(names, options["tasks"])]
    table = _kept(keep, loop)
    wanted = [
        (loop, *cell, seed)
        for seed in range(repetitions)
        for cell in cells
        if (*cell, seed) not in table
    ]
    with ProcessPoolExecutor(options["jobs"], mp_context=get_context("spawn")) as executor:
        result = executor.map(outcome, wanted) if options["jobs"] > 1 else map(outcome, wanted)
        for key, item in zip(wanted, result, strict=True):
            _, name, tasks, seed = key
            table[name, tasks, seed] = item
            if keep is not None:
                with keep.open("a", encoding="utf-8") as file:
                    file.write(json.dumps({"of": key, **asdict(item)}) + "\n")
            click.echo(f"{name}, {tasks} tasks, repetition {seed + 1}: done", err=True)
    _print({cell: [table[*cell, seed] for seed in range(repetitions)] for cell in cells}, drawn)


def _kept(path: Path | None, loop: str) -> dict[tuple[str, int, int], Outcome]:
    """Read what is there already, by world, number of tasks and seed."""
    if path is None or not path.exists():
        return {}
    table: dict[tuple[str, int, int], Outcome] = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        value: dict[str, Any] = json.loads(line)
        made_by, name, tasks, seed = value.pop("of")
        if made_by == loop:
            value["told"] = [(item, other) for item, other in value["told"]]
            table[name, tasks, seed] = Outcome(**value)
    return table


def _print(cells: Mapping[Cell, Sequence[Outcome]], drawn: Path | None) -> None:
    click.echo(f"| {' | '.join(COLUMNS)} |\n|{'---|' * len(COLUMNS)}")
    for (name, tasks), outcomes in cells.items():
        texts = [name, str(tasks), str(len(outcomes)), *_figures(outcomes)]
        click.echo(f"| {' | '.join(texts)} |")
    for tasks in dict.fromkeys(tasks for _, tasks in cells):
        tenths = {
            name: deciles(pair for item in outcomes for pair in item.told)
            for (name, number), outcomes in cells.items()
            if number == tasks
        }
        click.echo(f"\n| after {tasks} tasks: expected -> worth |{' |' * 10}\n|{'---|' * 11}")
        for name, groups in tenths.items():
            told_groups = (f"{group.expected:.3f} -> {group.worth:.3f}" for group in groups)
            click.echo(f"| {name} | {' | '.join(told_groups)} |")
        if drawn is not None:
            drawn.write_text(figure(tenths), encoding="utf-8")


def _figures(outcomes: Sequence[Outcome]) -> Iterator[str]:
    yield told(item.teams for item in outcomes).split(" ")[0]
    for field in (
        "covered", "own_covered", "bias", "highest", "own_highest", "gain",
        "over_founders", "off",
    ):  # fmt: skip
        yield told(getattr(item, field) for item in outcomes)


if __name__ == "__main__":
    main()
