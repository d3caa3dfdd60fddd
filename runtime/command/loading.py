"""What commands are given: a team and a task, or the folder of a run."""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from ...schema.errors import ConfigError, InputError
from ...schema.models import DEFAULT_ALIAS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ...schema.catalogue import Catalogue
    from ...schema.models import Model
    from ...schema.problems import Problem
    from ...schema.task import Task
    from ...schema.team import Team

__all__ = ["Loaded", "known_again", "load_files", "load_folder", "load_team_of"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Loaded:
    """A team and a task, and the names that they were loaded with."""

    team: Team
    task: Task
    known: Catalogue


def load_team_of(team_file: str, known: Catalogue) -> tuple[Team, Catalogue, Path]:
    """Load a team.

    Args:
        team_file: A path, or `seed:NAME`.
        known: What may be named.

    Returns:
        The team; what may be named by a file that stands where it does; and where that is.

    Raises:
        InputError: It does not load.
    """
    from ...schema.loading import load_team, team_path

    path = team_path(team_file)
    known = known.beside(path.parent)
    return load_team(path, known), known, path


def load_files(
    team_file: str, task_file: str | None, query: str | None, known: Catalogue
) -> Loaded:
    """Load a team and a task; the problems of both are shown together.

    Args:
        team_file: A path, or `seed:NAME`.
        task_file: A path, or `-` for standard input.
        query: A question in place of a task file.
        known: What may be named.

    Raises:
        InputError: A file does not load.
    """
    from ...schema.loading import load_team, team_path

    path = team_path(team_file)
    known = known.beside(path.parent)
    problems: list[Problem] = []
    team, task = None, None
    try:
        team = load_team(path, known)
    except ConfigError as error:
        problems += error.problems
    try:
        task = _task(task_file, query, known)
    except ConfigError as error:
        problems += error.problems
    if team is None or task is None:
        raise ConfigError(problems)
    return Loaded(team=team, task=task, known=known)


def load_folder(
    folder: Path, recorded: Mapping[str, Model], chosen: tuple[str, ...], known: Catalogue
) -> Loaded:
    """Load what a recorded run was made of.

    Args:
        folder: The run's folder.
        recorded: The models that it called.
        chosen: What `--model` says; it comes before what is recorded.
        known: What may be named.

    Raises:
        InputError: It is not the folder of a run, or names what this host does not grant.
    """
    known = known_again(known, recorded, chosen)
    return load_files(str(folder / "team.yaml"), str(folder / "task.json"), None, known)


def known_again(
    known: Catalogue, recorded: Mapping[str, Model], chosen: tuple[str, ...]
) -> Catalogue:
    """Add the models that a recorded run called; what `--model` says comes before them."""
    named = {choice.partition("=")[0] if "=" in choice else DEFAULT_ALIAS for choice in chosen}
    models = {alias: model for alias, model in recorded.items() if alias not in named}
    return replace(known, models={**known.models, **models})


def _task(task_file: str | None, query: str | None, known: Catalogue) -> Task:
    from ...schema.loading import load_task, parse_task
    from ...schema.secrets import looks_secret
    from ...schema.task import Task

    if (task_file is None) == (query is None):
        raise InputError("give a task file, or a question with --query; one of them.")
    if query is not None:
        if looks_secret(query):
            raise InputError("--query: this looks like a secret key. Ask without it.")
        return Task(id="query", query=query)
    if task_file == "-":
        return parse_task(sys.stdin.buffer.read(), "-", Path(), known)
    return load_task(str(task_file), known)
