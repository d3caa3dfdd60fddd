"""Compares rows on streams and prints the tables of docs/evochamber-simulated.md."""

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
from .growth import grown
from .outcomes import Outcome
from .rows import FULL, ROWS, SINGLE
from .tasks import ORDERS
from .trials import Job, work

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from .tasks import Order

TITLES: Mapping[str, str] = {
    "drawn": "Drawn worlds",
    "level": "Level worlds: nothing is worth anything",
}
TASKS, LEVEL_TASKS, SEEDS = 400, 100, 10
ALWAYS = (FULL.name, SINGLE.name)
"""Rows that others are compared with."""


@click.command(cls=Command)
@click.option("--seeds", type=click.IntRange(min=2), default=SEEDS, show_default=True)
@click.option(
    "--tasks",
    type=click.IntRange(min=4),
    default=TASKS,
    show_default=True,
    help="Tasks of a stream in a drawn world.",
)
@click.option(
    "--level-tasks",
    type=click.IntRange(min=0),
    default=LEVEL_TASKS,
    show_default=True,
    help="The same in a level world; 0: there are none.",
)
@click.option("--order", type=click.Choice(ORDERS), default="mixed", show_default=True)
@click.option("--jobs", type=click.IntRange(min=1), default=2, show_default=True)
@click.option(
    "--rows",
    multiple=True,
    default=("*",),
    help="Only rows whose names match, such as 'no *'. May be given again.",
)
@click.option(
    "--results",
    type=click.Path(path_type=Path, file_okay=False),
    help="A folder in which results are kept as they come; what it has is not done again.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON, with each stream's outcome.")
@click.option(
    "--growth",
    type=click.Path(path_type=Path, file_okay=False),
    help="In place of all this, work on one stream in this new folder, a git repository, and tell"
    " how it grows.",
)
def main(
    *,
    seeds: int,
    tasks: int,
    level_tasks: int,
    order: Order,
    jobs: int,
    rows: Sequence[str],
    results: Path | None,
    as_json: bool,
    growth: Path | None,
) -> None:
    """Compare a population with what it is without each of its parts; print Markdown.

    But for seconds, the same options print the same bytes.
    """
    if growth is not None:
        click.echo("\n".join(grown(growth, tasks)))
        return
    todo = [*_jobs(rows, seeds, {"level": level_tasks, "drawn": tasks}, order)]
    if not todo:
        raise none_matches(rows, (one.name for one in ROWS))
    come = worked(work, todo, jobs=jobs, folder=results, job=Job, outcome=Outcome.of)
    found: dict[str, tables.Found] = by_world(todo, come, lambda one: one.accuracy)
    if as_json:
        click.echo(json.dumps(found, default=asdict, indent=1))
    else:
        click.echo("\n".join(_page(found)))


def _jobs(rows: Sequence[str], seeds: int, tasks: Mapping[str, int], order: Order) -> Iterator[Job]:
    """List what there is to do, seed by seed."""
    wanted = matching((one.name for one in ROWS), rows)
    for world in TITLES:
        for seed in range(seeds if tasks[world] and wanted else 0):
            for one in ROWS:
                if one.name in wanted or one.name in ALWAYS:
                    yield Job(world=world, row=one.name, seed=seed, tasks=tasks[world], order=order)


def _page(found: Mapping[str, tables.Found]) -> Iterator[str]:
    """Write all tables."""
    for world, come in found.items():
        yield f"\n### {TITLES[world]}\n"
        yield from apart(
            tables.accuracies(come),
            tables.differences(come),
            *([tables.covering(come)] if world == "level" else []),
            tables.specialists(come),
            tables.identities(come),
            tables.rosters(come),
            tables.knowledge(come),
            tables.chosen(come),
            tables.costs(come),
        )


if __name__ == "__main__":
    main()
