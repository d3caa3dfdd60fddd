"""`mas dev graph`: a picture of a team."""

from __future__ import annotations

from pathlib import Path

import click

from ..loading.loading import read_team
from ..picture import FORMATS, draw
from ..values.errors import InputError
from ..values.files import write_atomically
from ..values.terminal import speakable
from . import Command

SUFFIXES = {".mmd": "mermaid", ".svg": "svg"}


@click.command(cls=Command)
@click.argument("file", metavar="TEAM", type=click.Path(path_type=Path))
@click.option(
    "--format",
    "picture_format",
    type=click.Choice(FORMATS),
    help="The kind of picture.  [default: by the suffix of FILE, else text]",
)
@click.option(
    "-o",
    "--output",
    "target",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="Write the picture to this file.  [default: standard output]",
)
def main(file: Path, picture_format: str | None, target: Path | None) -> None:
    """Draw a team: its levels, its agents and who reports to whom.

    TEAM is a team file, a team's folder, or seed:NAME for one that comes with coterie.

    A file whose shape or graph is wrong is refused with all its problems. The models, tools,
    prompts and backends that it names need not exist on this host: `mas-validate` checks that.
    """
    suffix = target.suffix if target else ""
    kind = picture_format or SUFFIXES.get(suffix, "text")
    picture = draw(read_team(file), kind)
    if target is None:
        click.echo(speakable(picture) if kind == "text" else picture, nl=False)
        return
    try:
        write_atomically(target, picture)
    except OSError as error:
        raise InputError(f"{target}: cannot be written: {error.strerror}.") from None
