"""`mas dev import`: files of other programs, as a team."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..foreign.taking_over import models_text, take_over
from ..team.writing import dump, schema_beside
from ..values.errors import InputError
from ..values.files import write_atomically
from ..values.terminal import speakable
from . import Command, note

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..foreign.source import Imported

__all__ = ["main"]

MODELS = "models.yaml"


@click.command("import", cls=Command)
@click.argument("path", metavar="FILE|FOLDER", type=click.Path(path_type=Path))
@click.option(
    "-o",
    "--output",
    "target",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="Write the team to this file, and the models that it names into models.yaml beside it."
    " Its folder is made; nothing is written over.  [default: standard output]",
)
@click.option(
    "--input",
    "inputs",
    multiple=True,
    metavar="NAME=VALUE",
    help="What {NAME} stands for in CrewAI's files.",
)
def main(path: Path, target: Path | None, inputs: tuple[str, ...]) -> None:
    """Make a team of files of CrewAI or docker-agent.

    FILE is the YAML of a docker-agent, or agents.yaml or tasks.yaml of CrewAI, which are read both;
    FOLDER that of a CrewAI project. Code is not read. What has no counterpart is told on standard
    error, each with its place.
    """
    imported = take_over(path, _inputs(inputs))
    team = dump(imported.team, schema=schema_beside(target) if target else "team.schema.json")
    if target is None:
        click.echo(team, nl=False)
    else:
        _write(imported, target, team)
    for problem in imported.lost:
        click.echo(speakable(str(problem)), err=True)
    for advice in (*imported.advice, *_summary(imported, target)):
        note(advice)
    if target is not None:
        is_found = not imported.models or target.parent == Path()
        models = "" if is_found else f" --models {target.with_name(MODELS)}"
        click.echo(speakable(f'Try it: mas-run {target}{models} --query "…"'), err=True)


def _inputs(given: tuple[str, ...]) -> Mapping[str, str]:
    """Read what placeholders stand for.

    Raises:
        InputError: One is not NAME=VALUE.
    """
    parts = [one.partition("=") for one in given]
    for one, (name, equals, _) in zip(given, parts, strict=True):
        if not equals or not name:
            raise InputError(f"--input {one!r}: write NAME=VALUE, for instance topic=tea.")
    return {name: value for name, _, value in parts}


def _write(imported: Imported, target: Path, team: str) -> None:
    """Write the files, all or none.

    Raises:
        InputError: One is there already, or cannot be written.
    """
    models = target.with_name(MODELS)
    texts = {**({models: models_text(imported)} if imported.models else {}), target: team}
    for path in texts:
        if path.exists() or path.is_symlink():
            raise InputError(
                f"{path}: is there already, and nothing is written over. Name another place: -o"
            )
    for path, text in texts.items():
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            write_atomically(path, text)
        except OSError as error:
            raise InputError(f"{path}: cannot be written: {error.strerror}.") from None
        click.echo(speakable(str(path)))


def _summary(imported: Imported, target: Path | None) -> list[str]:
    """Say what is left to do."""
    lines: list[str] = []
    if imported.models and target is None:
        aliases = ", ".join(imported.models)
        lines.append(f"the team names models ({aliases}): with -o, models.yaml is written, too.")
    if count := len(imported.lost):
        counted = "1 thing of it has" if count == 1 else f"{count} things of it have"
        lines.append(f"this was of {imported.program}. {counted} no counterpart, told above.")
    return lines
