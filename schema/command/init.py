"""`mas init`: a folder to begin with."""

from __future__ import annotations

from pathlib import Path

import click

from ..explain.starting import FRIENDLY, begin
from ..values.terminal import speakable
from . import Command, note


@click.command(cls=Command)
@click.argument(
    "folder", metavar="[DIR]", required=False, default=".", type=click.Path(path_type=Path)
)
@click.option(
    "--from",
    "source",
    metavar="TEAM",
    help="The team to start from: seed:NAME, as `mas dev seeds` lists them, or a team file."
    "  [default: two agents]",
)
def main(folder: Path, source: str | None) -> None:
    """Start your own team: team.yaml, tasks, models.yaml, and a CI file.

    The files go to DIR, by default the current folder. No file is overwritten. Change the team as
    you like; the schema beside it lets your editor complete and check your changes.
    """
    for name in (written := begin(folder, source)):
        click.echo(speakable(str(folder / name)))
    for name in sorted(FRIENDLY - {*written}):
        note(f"{folder / name} exists already and is left unchanged.")
    there = "" if folder == Path() else f"cd {speakable(str(folder))} && "
    click.echo(f"Try it: {there}mas-run team.yaml task.json", err=True)
