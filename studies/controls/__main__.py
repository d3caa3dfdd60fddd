"""Prints the table of docs/research/controls.md: gains over the control, in two worlds."""

from __future__ import annotations

import itertools
from math import nan
from statistics import fmean
from typing import TYPE_CHECKING

import click

from coterie.schema.command import Command

from ..simulated import Interval, head, row, side_by_side
from .trials import RECIPES, Tested, tried

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

SHOWN = ("gain", "null")


@click.command(cls=Command)
@click.option("--seeds", type=click.IntRange(min=2), default=20, show_default=True)
@click.option("--jobs", type=click.IntRange(min=1), default=2, show_default=True)
def main(seeds: int, jobs: int) -> None:
    """Test every strategy beside its control, in a world with a gain and in one without."""
    todo = [*itertools.product(RECIPES, SHOWN, range(1, seeds + 1))]
    tested: dict[tuple[str, str], list[Tested]] = {}
    for (name, world, _), outcome in zip(todo, side_by_side(tried, todo, jobs), strict=True):
        tested.setdefault((name, world), []).append(outcome)
    for world in SHOWN:
        click.echo("\n".join([f"\n## The world {world}\n", *_table(world, tested)]))


def _table(world: str, tested: Mapping[tuple[str, str], Sequence[Tested]]) -> Iterator[str]:
    """Write the table of a world."""
    yield from head("strategy", "score", "control", "gain", "above 0", "over 0", "below 0", "read")
    for name in RECIPES:
        of = tested[name, world]
        scores = [trial.scores for trial in of if trial.scores] or [(nan, nan)]
        above = sum(trial.interval[0] > 0 for trial in of)
        below = sum(trial.interval[1] < 0 for trial in of)
        yield row(
            name,
            *(f"{fmean(each):.3f}" for each in zip(*scores, strict=True)),
            Interval([trial.gain for trial in of]).shown(),
            *map(str, (above, len(of) - above - below, below)),
            f"{fmean(trial.readers for trial in of):.1f}",
        )


if __name__ == "__main__":
    main()
