"""`mas-validate`: every problem of the files that it is given."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..agent_file import load_agent
from ..ceiling import load_ceiling
from ..errors import ConfigError, InputError
from ..loading import load_models, load_task, load_team, load_tools
from ..problems import Problem
from ..recipe import load_recipe
from ..tasks import load_tasks
from . import Command, host_catalogue, host_options, note, problem_format
from ._files import kind_of, with_agents

if TYPE_CHECKING:
    from ..catalogue import Catalogue

__all__ = ["main"]


@click.command(cls=Command)
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path))
@problem_format
@host_options
def main(files: tuple[Path, ...], problem_format: str, **host: Any) -> None:
    """Check files and show every problem of each, sorted by place.

    Team files, agent files, models.yaml, tools.yaml, policy.yaml and recipes (YAML) and task files
    (JSON or YAML) are told apart by their top-level fields; of a .jsonl each line is a task. A
    folder is an agent's where it has an agent.yaml; of any other, the agent files and agents'
    folders in it are checked. Ends with 2 when there is a problem. Nothing is run.
    """
    known = host_catalogue(**host)
    files = tuple(one for file in files for one in with_agents(file))
    problems = dict.fromkeys(problem for file in files for problem in _problems(file, known))
    if problems:
        raise ConfigError([*problems])
    if problem_format == "text":
        click.echo(f"{len(files)} file{'s' if len(files) > 1 else ''}: no problems.")
    elif problem_format == "json":
        click.echo("[]")


def _problems(file: Path, known: Catalogue) -> tuple[Problem, ...]:
    try:
        _load(file, known)
    except ConfigError as error:
        return error.problems
    except InputError as error:
        return (Problem(file=str(file), message=str(error)),)
    return ()


def _load(file: Path, known: Catalogue) -> None:
    match kind_of(file):
        case "task":
            load_task(file, known)
        case "tasks":
            load_tasks(file, known)
        case "models":
            load_models(file)
        case "tools":
            load_tools(file)
        case "policy":
            load_ceiling(file)
        case "evolution":
            load_recipe(file, tell=note)
        case "agent":
            load_agent(file, known)
        case _:
            load_team(file, known)
