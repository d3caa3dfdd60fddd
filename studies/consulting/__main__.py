"""Compares schemes of credit with what is true, and prints the tables of docs/consulting.md."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from coterie.schema.command import Command

from ..simulated import apart, matching, none_matches, side_by_side
from . import tables
from .landscapes import drawn, level
from .rows import LEVEL_ROWS, NOTHING, ROWS, SCHEMES
from .trials import CASES, HELD_OUT, Sizes, consult

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from .landscapes import Landscape
    from .rows import Trial

LEVEL_TITLE = "Level landscapes: nobody differs from anybody"
DRAWN_TITLE = "Drawn landscapes"
MAKERS: Mapping[str, tuple[Callable[[int], Landscape], Sequence[Trial]]] = {
    LEVEL_TITLE: (level, LEVEL_ROWS),
    DRAWN_TITLE: (drawn, ROWS),
}
QUICK = {"seeds": 2, "cases": 3, "held_out": 3}

Job = tuple[str, "tuple[Trial, Landscape, int, Sizes]"]
"""Under which title, and the arguments of `consult`."""


@click.command(cls=Command)
@click.option(
    "--seeds",
    type=click.IntRange(min=2),
    default=20,
    show_default=True,
    help="Landscapes of each sort; each has cases and chance of its own.",
)
@click.option(
    "--cases",
    type=click.IntRange(min=2),
    default=CASES,
    show_default=True,
    help="Cases that are learnt from in a landscape.",
)
@click.option(
    "--held-out",
    type=click.IntRange(min=1),
    default=HELD_OUT,
    show_default=True,
    help="Other cases in it.",
)
@click.option("--quick", is_flag=True, help="Small sizes, whatever the options above say.")
@click.option("--jobs", type=click.IntRange(min=1), default=2, show_default=True)
@click.option(
    "--rows",
    multiple=True,
    default=("*",),
    help="Only rows whose names match, such as 'Shapley*'. May be given again.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON, with each trial's outcome.")
def main(quick: bool, jobs: int, rows: Sequence[str], as_json: bool, **sizes: Any) -> None:
    """Compare schemes of credit in consultations in which worth is known; print Markdown.

    The same options print the same bytes.
    """
    todo = [*_jobs(rows, **(QUICK if quick else sizes))]
    if not todo:
        raise none_matches(rows, (one.name for one in ROWS))
    found: dict[str, tables.Found] = {title: {} for title in MAKERS}
    came = side_by_side(consult, [arguments for _, arguments in todo], jobs)
    for (title, (trial, landscape, *_)), outcome in zip(todo, came, strict=True):
        click.echo(f"{title}: {trial.name}: {landscape.name}", err=True)
        found[title].setdefault(trial.name, {})[landscape.name] = outcome
    if as_json:
        click.echo(json.dumps(found, default=asdict, indent=1))
    else:
        worlds = {one.name: one for _, (_, one, *_) in todo}
        click.echo("\n".join(_page(found, worlds)))


def _jobs(rows: Sequence[str], *, seeds: int, cases: int, held_out: int) -> Iterator[Job]:
    """List the trials; what is compared with is always among them."""
    wanted = matching((one.name for one in ROWS), rows)
    sizes = Sizes(cases=cases, held_out=held_out)
    for title, (make, several) in MAKERS.items():
        for one in several:
            if one.name in wanted or (wanted and one == NOTHING):
                yield from ((title, (one, make(seed), seed, sizes)) for seed in range(seeds))


def _page(found: Mapping[str, tables.Found], worlds: tables.Worlds) -> Iterator[str]:
    """Write all tables."""
    come = found[LEVEL_TITLE]
    yield f"\n## {LEVEL_TITLE}\n"
    yield from apart(
        tables.covering(come),
        tables.held_out(come),
        tables.differences(come, NOTHING.name),
    )
    come = found[DRAWN_TITLE]
    yield f"\n## {DRAWN_TITLE}\n"
    yield from apart(
        tables.correlations(come, worlds),
        tables.said_of_kinds(come, {name: worlds[name] for name in come[NOTHING.name]}),
        tables.kept(come),
        tables.costs(come),
        tables.held_out(come),
        tables.differences(come, *(one.name for one in (NOTHING, SCHEMES[0]) if one.name in come)),
    )


if __name__ == "__main__":
    main()
