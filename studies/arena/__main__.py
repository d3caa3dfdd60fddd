"""Prints the tables of simulated worlds in docs/research/arena.md."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from coterie.schema.command import Command

from ..simulated import matching, none_matches
from .worlds import CAPS, METHODS, WORLDS, Arena

if TYPE_CHECKING:
    from collections.abc import Sequence


@click.command(cls=Command)
@click.argument("worlds", nargs=-1, type=click.Choice([*WORLDS]))
@click.option("--seeds", type=click.IntRange(min=1), default=20, show_default=True)
@click.option("--jobs", type=click.IntRange(min=1), default=2, show_default=True)
@click.option("--shard", metavar="K/N", default="1/1", help="Do the K-th of N parts of the cells.")
@click.option(
    "--cap", default=CAPS["cap"], show_default=True, help="What a cell may spend to learn."
)
@click.option("--rows", multiple=True, default=("*",), help="Only methods whose names match.")
@click.option(
    "--results",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("results/worlds"),
    show_default=True,
)
def main(
    worlds: Sequence[str],
    *,
    seeds: int,
    jobs: int,
    shard: str,
    cap: str,
    rows: Sequence[str],
    results: Path,
) -> None:
    """Compare methods in WORLDS; print a table for each. The same command resumes."""
    chosen = matching(METHODS, rows)
    if not chosen:
        raise none_matches(rows, METHODS)
    methods = [name for name in METHODS if name in chosen]
    for world in worlds or WORLDS:
        folder, caps = results / world, {**CAPS, "cap": cap}
        arena = Arena(world=world, folder=folder, seeds=seeds, methods=methods, caps=caps)
        table = arena.run("--jobs", str(jobs), "--shard", shard)
        click.echo(f"## The world {world}\n\n{table}")


if __name__ == "__main__":
    main()
