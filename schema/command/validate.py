"""`mas-validate`: reports every problem of the given files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import click

from ..host.catalogue import Catalogue, installed, load_named
from ..host.conforming import guarded
from ..loading.loading import (
    check_team,
    load_models,
    load_task,
    load_team,
    read_file,
    team_path,
)
from ..loading.task_form import TaskForm, task_form
from ..team._meaning import TEAM_RULES
from ..team.placeholders import placeholders
from ..values.document import LIMITS
from ..values.errors import ConfigError, InputError
from ..values.problems import FORMATS, Problem
from ..values.terminal import speakable
from . import Command, catalogue_of, host_options, problem_format, task_options
from ._files import kind_of, with_agents

Lacking = Mapping[str, Sequence[str]]
"""The missing parts of this host for each team, by its file."""


@click.command(cls=Command)
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path))
@problem_format
@host_options
@task_options
@click.option(
    "--no-host", is_flag=True, help="Do not check that this host has the models and tools."
)
@click.option(
    "--start-servers",
    is_flag=True,
    help="Start the teams' tool servers, and warn about tools that they lack.",
)
def main(
    files: tuple[Path, ...], problem_format: str, no_host: bool, start_servers: bool, **host: Any
) -> None:
    """Check files and show every problem, sorted by place.

    FILES are team files, agent files, models.yaml, tools.yaml, policy.yaml, recipes (YAML) and task
    files (JSON or YAML), recognised by their top-level fields. Each line of a .jsonl and each row
    of a .csv is a task. A folder holds a team, an agent, or agent files. A team may be
    seed:NAME.

    Exits with code 2 if there is a problem. A warning names a likely mistake, or a package,
    program, key or jail that a team needs and this host lacks. Starts nothing, unless you add
    --start-servers.
    """
    catalogue = catalogue_of(host)
    form = task_form(host, catalogue)
    files = tuple(with_agent for file in files for with_agent in with_agents(file))
    problems = dict.fromkeys(
        problem for file in files for problem in _problems(file, catalogue, form)
    )
    no_host = no_host or find_spec("fcntl") is None  # runs take more than Windows has
    if not no_host and not any(problem.severity == "error" for problem in problems):
        problems |= dict.fromkeys(_unready(files, catalogue, start_servers=start_servers))
    if any(problem.severity == "error" for problem in problems):
        raise ConfigError([*problems])
    if problem_format != "text":
        click.echo(
            FORMATS[problem_format]([*problems]), nl=bool(problems) or problem_format == "json"
        )
        return
    for item in problems:
        click.echo(speakable(str(item)), err=True)
    click.echo(f"{len(files)} file{'s' if len(files) > 1 else ''}: no problems.")


def _unready(
    files: Iterable[Path], catalogue: Catalogue, *, start_servers: bool
) -> Iterator[Problem]:
    """Warn of parts that this host lacks for running the loaded teams, as checked by `mas-run`."""
    paths = [team_path(file) for file in files if kind_of(file) == "team"]
    offers = {path: catalogue.beside(path.parent) for path in paths}
    teams = {str(path): (load_team(path, offered), offered) for path, offered in offers.items()}
    for name in sorted(installed("checks")) if teams else ():
        check = guarded(load_named("checks", name), Lacking, f"the check {name}")
        for file, lacking in check(teams, start_servers=start_servers).items():
            for message in lacking:
                yield Problem(file=file, message=f"this host: {message}", severity="warning")


def _problems(file: Path, catalogue: Catalogue, form: TaskForm) -> tuple[Problem, ...]:
    try:
        return _loaded(file, catalogue, form)
    except ConfigError as error:
        return error.problems
    except InputError as error:
        return (Problem(file=str(file), message=str(error)),)


def _loaded(file: Path, catalogue: Catalogue, form: TaskForm) -> tuple[Problem, ...]:
    """Load a file; return its likely mistakes, and for a team all problems."""
    match kind_of(file):
        case "task":
            load_task(file, catalogue, form)
        case "tasks":
            from ..loading.tasks import open_tasks

            open_tasks(file, catalogue, form)
        case "models":
            load_models(file)
        case "tools":
            from ..loading.tools_file import load_tools

            load_tools(file)
        case "policy":
            from ..loading.ceiling import load_ceiling

            load_ceiling(file)
        case "evolution":
            from ..loading.recipe import load_recipe, scorer_of_recipe

            scorer_of_recipe(file, load_recipe(file), catalogue)
        case "agent":
            from ..loading.agent_file import check_agent, load_agent

            load_agent(file, catalogue)
            return tuple(check_agent(file, catalogue.beside(file.parent), (placeholders,))[1])
        case _:
            path = team_path(file)
            catalogue, text = catalogue.beside(path.parent), read_file(path, LIMITS)
            rules = (*TEAM_RULES, placeholders)
            return tuple(check_team(text, str(path), catalogue, rules, folder=path.parent)[1])
    return ()
