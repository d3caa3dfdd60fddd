"""Compares ways to adapt in landscapes of rounds and prints the tables of docs/adaptation.md."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from coterie.schema.command import Command

from ..simulated import matching, none_matches, side_by_side, sized
from . import tables
from .landscapes import drawn, level
from .rows import PACES, REFERENCE, ROWS
from .trials import CALLS, LEAST, adapt

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from .landscapes import Landscape
    from .trials import Trial

LEVEL_TITLE = "Level landscapes: nothing has an effect"
DRAWN_TITLE = "Drawn landscapes"
MAKERS: Mapping[str, Callable[[int], Landscape]] = {LEVEL_TITLE: level, DRAWN_TITLE: drawn}

Job = tuple[str, "tuple[Trial, Landscape, int, int]"]
"""Under which title, and the arguments of `adapt`."""


@click.command(cls=Command)
@sized(click.IntRange(min=LEAST), CALLS)
def main(jobs: int, as_json: bool, **sizes: Any) -> None:
    """Compare ways to adapt a team while it works on a task; print Markdown.

    Each task takes as many model calls, in as many rounds as they suffice for. The same options
    print the same bytes.
    """
    todo = [*_jobs(**sizes)]
    if not todo:
        raise none_matches(sizes["rows"], (one.name for one in ROWS))
    found: dict[str, tables.Found] = {title: {} for title in MAKERS}
    came = side_by_side(adapt, [arguments for _, arguments in todo], jobs)
    for (title, (trial, landscape, *_)), outcome in zip(todo, came, strict=True):
        worlds = found[title].setdefault(trial.name, {})
        if landscape.name not in worlds:
            click.echo(f"{title}: {trial.name}: {landscape.name}", err=True)
        worlds.setdefault(landscape.name, []).append(outcome)
    if as_json:
        click.echo(json.dumps(found, default=asdict, indent=1))
    else:
        losses = {one.name: one.loss for _, (_, one, *_) in todo}
        click.echo("\n".join(_page(found, losses)))


def _jobs(landscapes: int, seeds: int, calls: int, rows: Sequence[str]) -> Iterator[Job]:
    """List the trials; the reference is always among them."""
    wanted = matching((one.name for one in ROWS), rows)
    trials = [one for one in ROWS if one.name in wanted | {REFERENCE.name}] if wanted else []
    for title, make in MAKERS.items():
        for seed in range(landscapes * seeds):
            landscape = make(seed // seeds)
            yield from ((title, (one, landscape, seed, calls)) for one in trials)


def _page(found: Mapping[str, tables.Found], losses: Mapping[str, float]) -> Iterator[str]:
    """Write all tables."""
    for title, rows in found.items():
        yield f"\n## {title}\n"
        yield from tables.values(rows)
        if [*rows] == [REFERENCE.name]:
            continue
        yield ""
        yield from tables.differences(rows, REFERENCE.name)
        slow = [one.name for one in PACES if one.name in rows]
        if title == LEVEL_TITLE:
            yield f"\n{tables.covering(rows, REFERENCE.name)}"
        elif slow:
            yield ""
            yield from tables.paces(rows, slow, REFERENCE.name, losses)


if __name__ == "__main__":
    main()
