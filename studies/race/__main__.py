"""Compares `race` with its rivals in worlds: the tables of docs/research/race-measured.md."""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING

import click

from coterie.pool.values.intervals import wilson
from coterie.schema.command import Command

from ..simulated import head, matching, none_matches, row, side_by_side
from .rows import ROWS, trial
from .worlds import MAKERS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from .trials import Outcome

COLUMNS = (
    "",
    "trials",
    "found",
    "true gain",
    "agents",
    "operators",
    "last word",
    "claims a gain",
    "interval covers",
)


@click.command(cls=Command)
@click.argument("world", type=click.Choice([*MAKERS]))
@click.option("--trials", type=click.IntRange(min=1), default=40, show_default=True)
@click.option("--first", type=click.IntRange(min=0), default=0, help="The seed of the first.")
@click.option("--budget", type=click.IntRange(min=1), help="Calls, in place of the world's.")
@click.option("--jobs", type=click.IntRange(min=1), default=2, show_default=True)
@click.option(
    "--rows",
    multiple=True,
    default=("*",),
    help="Only rows whose names match, such as 'GEPA*'. May be given again.",
)
def main(
    world: str, *, trials: int, first: int, budget: int | None, jobs: int, rows: Sequence[str]
) -> None:
    """Compare strategies in trials of WORLD; print a table in Markdown.

    Each trial has a world of its own by its seed. The same options print the same bytes.
    """
    names = [name for name in ROWS if name in matching(ROWS, rows)]
    if not names:
        raise none_matches(rows, ROWS)
    seeds = range(first, first + trials)
    todo = [(name, world, seed, budget) for name in names for seed in seeds]
    outcomes = zip(todo, side_by_side(trial, todo, jobs), strict=True)
    cases: dict[tuple[str, str], list[Outcome]] = {}
    for (name, *_), (case, outcome) in outcomes:
        for label in dict.fromkeys(("", case)):
            cases.setdefault((name, label), []).append(outcome)
    click.echo("\n".join(_table(cases)))


def _table(cases: Mapping[tuple[str, str], Sequence[Outcome]]) -> Iterator[str]:
    yield from head(*COLUMNS)
    for (name, case), outcomes in cases.items():
        yield row(f"{name}: {case}" if case else name, *_cells(outcomes))


def _cells(outcomes: Sequence[Outcome]) -> Iterator[str]:
    yield str(len(outcomes))
    yield _share([each.found for each in outcomes])
    yield f"{statistics.fmean(each.gain for each in outcomes):+.3f}"
    for calls in ("agents", "operators", "last"):
        yield f"{statistics.fmean(getattr(each, calls) for each in outcomes):.0f}"
    yield _share([each.claims for each in outcomes])
    tested = [(each.interval, each.tested) for each in outcomes if each.interval is not None]
    yield f"{_share([low <= gain <= high for (low, high), gain in tested])} of {len(tested)}"


def _share(hits: Sequence[bool]) -> str:
    """Write a share with its Wilson interval of 95 %."""
    if not hits:
        return "-"
    low, high = wilson(sum(hits), len(hits))
    return f"{sum(hits) / len(hits):.3f} [{low:.2f}, {high:.2f}]"


if __name__ == "__main__":
    main()
