"""`mas-graph`: a picture of a team."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from .._meaning import GRAPH_RULES
from ..catalogue import Catalogue
from ..errors import ConfigError, InputError
from ..files import write_atomically
from ..loading import check_team, read_file
from ..picture import FORMATS, draw
from ..terminal import speakable
from . import Command

if TYPE_CHECKING:
    from ..team import Team

__all__ = ["main"]

SUFFIXES = {".dot": "dot", ".gv": "dot", ".json": "json", ".mmd": "mermaid", ".svg": "svg"}
NO_NAMES = Catalogue(
    backends=frozenset(), functions=frozenset(), scorers=frozenset(), tools=frozenset()
)


@click.command(cls=Command)
@click.argument("file", metavar="TEAM", type=click.Path(path_type=Path))
@click.option(
    "--format",
    "picture_format",
    type=click.Choice(FORMATS),
    help="What the picture is.  [default: what FILE's suffix says, else text]",
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

    A file whose shape or graph is wrong is refused with all its problems. Whether this host knows
    the models, tools, prompts and backends that the team names makes no difference here:
    `mas validate` tells that.
    """
    suffix = target.suffix if target else ""
    kind = picture_format or SUFFIXES.get(suffix, "text")
    picture = draw(_team(file), kind)
    if target is None:
        click.echo(speakable(picture) if kind == "text" else picture, nl=False)
        return
    try:
        write_atomically(target, picture)
    except OSError as error:
        raise InputError(f"{target}: cannot be written: {error.strerror}.") from None


def _team(file: Path) -> Team:
    """Load a team whose graph can be drawn."""
    team, problems = check_team(read_file(file), str(file), NO_NAMES, GRAPH_RULES)
    if problems:
        raise ConfigError(problems)
    return team
