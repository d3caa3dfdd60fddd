"""Prints the tables of docs/research/reuse.md."""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING

import click

from coterie.schema.command import Command

from ..calibration.measures import told
from ..calibration.world import WORLDS
from ..simulated import head, row, side_by_side
from .asked import KINDS, asked, teams
from .luck import evolve

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from coterie.schema.loading.recipe import Reuse

    from .asked import Calls
    from .luck import Luck

WAYS: tuple[Reuse, ...] = ("never", "always")
RIGHT_OR_WRONG = [world.name for world in WORLDS if world.puzzles == 1]
COLUMNS = (
    *("world", "reuse", "repetitions", "calls", "online", "in expected's interval"),
    *("in the mean's interval", "bias of expected", "newcomers, of tasks"),
    *("newcomer less its parents", "teams", "frozen: worth more than founders"),
    "frozen: expected too much",
)
PAIRED: Mapping[str, Callable[[Luck], float]] = {
    "in expected's interval": lambda item: item.pool.covered,
    "newcomers": lambda item: item.born,
    "online": lambda item: item.online,
    "frozen: worth more than founders": lambda item: item.pool.over_founders,
}
"""What is compared between evolutions of the same founders on the same tasks."""

jobs_option = click.option("--jobs", type=click.IntRange(min=1), default=1, show_default=True)


@click.group()
def main() -> None:
    """Measure what children save that reuse their parents' answers, and what comes of it."""


@main.command("calls", cls=Command)
@click.option("--team", "names", multiple=True, help="Only this seed team. May be given again.")
@click.option("--children", type=click.IntRange(min=1), default=10, show_default=True)
@jobs_option
def calls_of_children(names: Sequence[str], children: int, jobs: int) -> None:
    """Print calls asked / calls of a full run, of children of each seed team by kind of edit."""
    known = [*teams()]
    if unknown := sorted({*names} - {*known}):
        raise click.BadParameter(
            f"no seed team {unknown[0]!r} here. Known: {', '.join(known)}.", param_hint="--team"
        )
    wanted = [name for name in known if not names or name in names]
    todo = [(team, kind, number) for team in wanted for kind in KINDS for number in range(children)]
    table: dict[tuple[str, str], list[Calls]] = {}
    for (team, kind, _), calls in zip(todo, side_by_side(asked, todo, jobs), strict=True):
        table.setdefault((team, kind), []).extend([] if calls is None else [calls])
    for line in _calls_table(wanted, table):
        click.echo(line)


def _calls_table(
    wanted: Sequence[str], table: Mapping[tuple[str, str], Sequence[Calls]]
) -> Iterator[str]:
    yield from head("team", *KINDS)
    for team in wanted:
        yield row(team, *(_share(table[team, kind]) for kind in KINDS))
    every = [[calls for team in wanted for calls in table[team, kind]] for kind in KINDS]
    yield row("mean over all", *map(_share, every))


def _share(children: Sequence[Calls]) -> str:
    """Return the mean share of a full run's calls that is asked."""
    shares = [child.asked / child.whole for child in children if child.whole]
    return f"{statistics.fmean(shares):.2f} (n={len(shares)})" if shares else "-"


@main.command("luck", cls=Command)
@click.option("--repetitions", type=click.IntRange(min=2), default=100, show_default=True)
@click.option("--tasks", type=click.IntRange(min=1), default=40, show_default=True)
@click.option(
    "--world",
    "names",
    type=click.Choice(RIGHT_OR_WRONG),
    multiple=True,
    default=("null", "differing"),
    show_default=True,
)
@jobs_option
def luck(repetitions: int, tasks: int, names: Sequence[str], jobs: int) -> None:
    """Print what pools come to where everybody's worth is known, with and without reuse."""
    cells = [(name, way) for name in names for way in WAYS]
    todo = [(*cell, tasks, seed) for cell in cells for seed in range(repetitions)]
    lucks = [*side_by_side(evolve, todo, jobs)]
    for line in head(*COLUMNS):
        click.echo(line)
    parts = {
        cell: lucks[place * repetitions : (place + 1) * repetitions]
        for place, cell in enumerate(cells)
    }
    for (name, way), part in parts.items():
        click.echo(row(name, way, str(repetitions), *_figures(part)))
    click.echo("\nwith reuse less without, paired over repetitions:\n")
    for line in head("world", *PAIRED):
        click.echo(line)
    for name in names:
        click.echo(row(name, *_differences(*(parts[name, way] for way in WAYS))))


def _figures(lucks: Sequence[Luck]) -> Iterator[str]:
    yield f"{sum(item.asked for item in lucks) / sum(item.whole for item in lucks):.2f}"
    yield told(item.online for item in lucks)
    yield told(item.pool.covered for item in lucks)
    yield told(item.pool.own_covered for item in lucks)
    yield told(item.pool.bias for item in lucks)
    yield told(item.born for item in lucks)
    yield told(item.better for item in lucks)
    yield told(item.pool.teams for item in lucks)
    yield told(item.pool.over_founders for item in lucks)
    yield told(item.pool.off for item in lucks)


def _differences(fresh: Sequence[Luck], shared: Sequence[Luck]) -> Iterator[str]:
    for value in PAIRED.values():
        pairs = zip(shared, fresh, strict=True)
        yield told(value(item) - value(other) for item, other in pairs)


if __name__ == "__main__":
    main()
