"""`mas init`: a folder to begin with."""

from __future__ import annotations

from pathlib import Path

import click

from ..explain.starting import FRIENDLY, begin
from ..values.terminal import speakable
from . import Command, note

__all__ = ["main"]

FIRST = "seed:majority_vote_3"
"""The one that the embedded model does well with."""


@click.command(cls=Command)
@click.argument(
    "folder", metavar="[DIR]", required=False, default=".", type=click.Path(path_type=Path)
)
@click.option(
    "--from",
    "source",
    metavar="TEAM",
    default=FIRST,
    show_default=True,
    help="The team to begin with: seed:NAME, as `mas dev seeds` lists them, or a team file.",
)
def main(folder: Path, source: str) -> None:
    """Write a folder to begin with: a team, tasks, models.yaml, and what git and CI want.

    DIR is made if need be; without it, the files come into this folder. Nothing that is there is
    written over. The team and its prompts are copies, for you to change; the schemas beside them
    let an editor complete and check what you write.
    """
    for name in (written := begin(folder, source)):
        click.echo(speakable(str(folder / name)))
    for name in sorted(FRIENDLY - {*written}):
        note(f"{folder / name} was there, and stays as it is.")
    there = "" if folder == Path() else f"cd {speakable(str(folder))} && "
    click.echo(f"Try it: {there}mas-run team.yaml task.json", err=True)
