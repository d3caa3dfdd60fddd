"""Compares arms in worlds and prints the tables of docs/meta-team-simulated.md."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from coterie.schema.command import Command

from ..resumable import by_world, worked
from ..simulated import apart, matching, none_matches
from . import tables
from .outcomes import Outcome
from .rows import FULL, ROWS
from .trials import Job, work

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

TITLES: Mapping[str, str] = {
    "drawn": "Drawn worlds",
    "sound": "Sound worlds: nothing is wrong with the team",
    "level": "Level worlds: nothing has an effect",
}
SEEDS, LEARNING, TEST = 20, 20, 20


@click.command(cls=Command)
@click.option("--seeds", type=click.IntRange(min=2), default=SEEDS, show_default=True)
@click.option(
    "--learning",
    type=click.IntRange(min=1),
    default=LEARNING,
    show_default=True,
    help="Orders by which a team evolves.",
)
@click.option(
    "--test",
    type=click.IntRange(min=1),
    default=TEST,
    show_default=True,
    help="Other orders, on which it is evaluated.",
)
@click.option(
    "--worlds",
    type=click.Choice([*TITLES]),
    multiple=True,
    default=[*TITLES],
    show_default=True,
    help="Only worlds of this sort. May be given again.",
)
@click.option("--jobs", type=click.IntRange(min=1), default=2, show_default=True)
@click.option(
    "--rows",
    multiple=True,
    default=("*",),
    help="Only arms whose names match, such as 'no *'. May be given again.",
)
@click.option(
    "--results",
    type=click.Path(path_type=Path, file_okay=False),
    help="A folder in which results are kept as they come; what it has is not done again.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON, with each outcome.")
def main(
    *,
    seeds: int,
    learning: int,
    test: int,
    worlds: Sequence[str],
    jobs: int,
    rows: Sequence[str],
    results: Path | None,
    as_json: bool,
) -> None:
    """Compare a team that evolves with what it is without each part of that; print Markdown.

    But for seconds, the same options print the same bytes.
    """
    wanted = matching((one.name for one in ROWS), rows)
    if not wanted:
        raise none_matches(rows, (one.name for one in ROWS))
    names = [one.name for one in ROWS if one.name in wanted or one is FULL]
    todo = [
        Job(world=world, row=name, seed=seed, learning=learning, test=test)
        for world in worlds
        for seed in range(seeds)
        for name in names
    ]
    come = worked(work, todo, jobs=jobs, folder=results, job=Job, outcome=Outcome.of)
    found: dict[str, tables.Found] = by_world(todo, come, lambda one: one.score)
    if as_json:
        click.echo(json.dumps(found, default=asdict, indent=1))
    else:
        click.echo("\n".join(_page(found)))


def _page(found: Mapping[str, tables.Found]) -> Iterator[str]:
    """Write all tables."""
    for world, come in found.items():
        yield f"\n### {TITLES[world]}\n"
        yield from apart(
            tables.scores(come),
            tables.differences(come),
            *([tables.covering(come)] if world == "level" else []),
            tables.notes(come),
            tables.costs(come),
        )


if __name__ == "__main__":
    main()
