"""Writes the tasks of a stream as JSONL, for `mas-evolve` and others."""

from __future__ import annotations

import click

from ...schema.command import Command
from ...schema.values.json_text import dumps
from .tasks import SPLITS, STREAMS, Split, stream


@click.command(cls=Command)
@click.argument("name", type=click.Choice(list(STREAMS)))
@click.option("--count", type=click.IntRange(min=1), default=40, show_default=True)
@click.option("--split", type=click.Choice(SPLITS), default=SPLITS[0], show_default=True)
@click.option("--seed", type=int, default=0, show_default=True, help="Which tasks.")
def main(name: str, count: int, split: Split, seed: int) -> None:
    """Write tasks of the stream NAME, one JSON object on a line."""
    for task in stream(name, split, count=count, seed=seed):
        click.echo(dumps(task.value()))


if __name__ == "__main__":
    main()
