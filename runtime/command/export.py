"""`mas dev export`: a team as a file of another program."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from ...schema.command import Command, catalogue_of, name_options, note
from ...schema.host.catalogue import Catalogue
from ...schema.values.errors import ConfigError, InputError
from ...schema.values.problems import Problem
from ...schema.values.terminal import speakable
from ..export.portable import TARGETS

ADVICE = {
    "langgraph": "run it with: python {file} TASK",
    "docker-agent": (
        "in docker-agent, an agent's model chooses which agents to call; each instruction ends with"
        " the agents to call."
    ),
}


@click.command(cls=Command)
@click.argument("team", metavar="TEAM")
@click.option(
    "--to", "target", type=click.Choice(TARGETS), required=True, help="The target program."
)
@click.option(
    "-o",
    "--output",
    "file",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="Write to this file; never overwrites a file.  [default: standard output]",
)
@name_options
def main(team: str, target: str, file: Path | None, **host: Any) -> None:
    """Write a team as a program for LangGraph, or as docker-agent's YAML.

    TEAM is a team file, a team's folder, or seed:NAME. Fields that the other program cannot express
    are refused, each with its place. Fields that are lost are reported on standard error. Models
    are those of models.yaml and --model; other programs cannot use the embedded one.
    """
    catalogue = catalogue_of(host)
    text, lost = _exported(team, target, catalogue)
    if file is None:
        click.echo(text, nl=False)
    else:
        _write(file, text)
    for problem in lost:
        click.echo(speakable(str(problem)), err=True)
    note(ADVICE[target].format(file=file or "FILE"))


def _exported(team_file: str, target: str, catalogue: Catalogue) -> tuple[str, list[Problem]]:
    """Return a team as a file of another program, and the fields that are lost."""
    from ...schema.loading.loading import check_team, read_file
    from ..export import docker_agent_text, langgraph_text, rules_for
    from ..plan.plan import compile
    from .loading import load_team_of

    team, catalogue, path = load_team_of(team_file, catalogue)
    content = read_file(path)
    _, problems = check_team(content, str(path), catalogue, rules_for(target), folder=path.parent)
    if refused := [problem for problem in problems if problem.severity == "error"]:
        raise ConfigError(refused)
    write = {"langgraph": langgraph_text, "docker-agent": docker_agent_text}[target]
    return write(compile(team, catalogue), catalogue.servers), problems


def _write(file: Path, text: str) -> None:
    from ...schema.values.files import write_atomically

    if file.exists() or file.is_symlink():
        raise InputError(f"{file}: already exists and is not overwritten.")
    try:
        write_atomically(file, text)
    except OSError as error:
        raise InputError(f"{file}: cannot be written: {error.strerror}.") from None
    click.echo(speakable(str(file)))
