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
RIGHT_OR_WRONG = [one.name for one in WORLDS if one.puzzles == 1]
COLUMNS = (
    *("world", "reuse", "repetitions", "calls", "online", "in expected's interval"),
    *("in the mean's interval", "bias of expected", "newcomers, of tasks"),
    *("newcomer less its parents", "teams", "frozen: worth more than founders"),
    "frozen: expected too much",
)
PAIRED: Mapping[str, Callable[[Luck], float]] = {
    "in expected's interval": lambda one: one.pool.covered,
    "newcomers": lambda one: one.born,
    "online": lambda one: one.online,
    "frozen: worth more than founders": lambda one: one.pool.over_founders,
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
    wanted = [one for one in known if not names or one in names]
    todo = [(team, kind, number) for team in wanted for kind in KINDS for number in range(children)]
    found: dict[tuple[str, str], list[Calls]] = {}
    for (team, kind, _), calls in zip(todo, side_by_side(asked, todo, jobs), strict=True):
        found.setdefault((team, kind), []).extend([] if calls is None else [calls])
    for line in _calls_table(wanted, found):
        click.echo(line)


def _calls_table(
    wanted: Sequence[str], found: Mapping[tuple[str, str], Sequence[Calls]]
) -> Iterator[str]:
    yield from head("team", *KINDS)
    for team in wanted:
        yield row(team, *(_share(found[team, kind]) for kind in KINDS))
    every = [[one for team in wanted for one in found[team, kind]] for kind in KINDS]
    yield row("mean over all", *map(_share, every))


def _share(children: Sequence[Calls]) -> str:
    """Give the mean share of a full run's calls that is asked."""
    shares = [one.asked / one.whole for one in children if one.whole]
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
    came = [*side_by_side(evolve, todo, jobs)]
    for line in head(*COLUMNS):
        click.echo(line)
    parts = {
        cell: came[place * repetitions : (place + 1) * repetitions]
        for place, cell in enumerate(cells)
    }
    for (name, way), part in parts.items():
        click.echo(row(name, way, str(repetitions), *_figures(part)))
    click.echo("\nwith reuse less without, paired over repetitions:\n")
    for line in head("world", *PAIRED):
        click.echo(line)
    for name in names:
        click.echo(row(name, *_differences(*(parts[name, way] for way in WAYS))))


def _figures(came: Sequence[Luck]) -> Iterator[str]:
    yield f"{sum(one.asked for one in came) / sum(one.whole for one in came):.2f}"
    yield told(one.online for one in came)
    yield told(one.pool.covered for one in came)
    yield told(one.pool.own_covered for one in came)
    yield told(one.pool.bias for one in came)
    yield told(one.born for one in came)
    yield told(one.better for one in came)
    yield told(one.pool.teams for one in came)
    yield told(one.pool.over_founders for one in came)
    yield told(one.pool.off for one in came)


def _differences(fresh: Sequence[Luck], shared: Sequence[Luck]) -> Iterator[str]:
    for value in PAIRED.values():
        pairs = zip(shared, fresh, strict=True)
        yield told(value(one) - value(other) for one, other in pairs)


if __name__ == "__main__":
    main()
