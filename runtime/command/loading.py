"""What commands are given: a team and a task, or the folder of a run."""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from ...schema.host.models import DEFAULT_ALIAS
from ...schema.values.errors import ConfigError, InputError
from ...schema.values.hints import did_you_mean
from ...schema.values.problems import quoted
from ..runs.record import MANIFEST, read_value

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from ...schema.host.catalogue import Catalogue
    from ...schema.host.models import Model
    from ...schema.team.task import Task
    from ...schema.team.team import Team
    from ...schema.values.problems import Problem

__all__ = [
    "Asked",
    "Loaded",
    "known_again",
    "load_files",
    "load_folder",
    "load_team_of",
    "refuse_unused",
]


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
    from ...schema.loading.loading import load_team, team_path

    path = team_path(team_file)
    known = known.beside(path.parent)
    return load_team(path, known), known, path


@dataclass(frozen=True, kw_only=True, slots=True)
class Asked:
    """A question in place of a task file, with what belongs to it.

    Attributes:
        query: What is asked.
        context: Material that belongs to it.
        files: Where its files are.
        repo: The repository that it is about.
    """

    query: str
    context: str = ""
    files: tuple[Path, ...] = ()
    repo: Path | None = None

    def task(self, known: Catalogue) -> Task:
        """Give the task that it stands for.

        Raises:
            InputError: A file cannot be read.
            ConfigError: There is no such repository, or a text is too long or looks like a key.
        """
        from ...schema.loading.loading import parse_task
        from ...schema.loading.task_files import given_files
        from ...schema.values.attachments import Attachment
        from ...schema.values.json_text import dumps

        said = {"query": self.query, "context": self.context, "repo": str(self.repo or "")}
        written = {"id": "query", **{name: text for name, text in said.items() if text}}
        task = parse_task(dumps(written).encode(), "--query", Path(), known)
        found = given_files(self.files)
        texts = {name: one for name, one in found.items() if isinstance(one, str)}
        others = {name: one for name, one in found.items() if isinstance(one, Attachment)}
        return replace(task, files=MappingProxyType(texts), attachments=MappingProxyType(others))


def load_files(
    team_file: str, task_file: str | None, asked: Asked | None, known: Catalogue
) -> Loaded:
    """Load a team and a task; the problems of both are shown together.

    Args:
        team_file: A path, or `seed:NAME`.
        task_file: A path, or `-` for standard input.
        asked: A question in place of a task file.
        known: What may be named.

    Raises:
        InputError: A file does not load.
    """
    from ...schema.loading.loading import load_team, team_path

    path = team_path(team_file)
    known = known.beside(path.parent)
    problems: list[Problem] = []
    team, task = None, None
    try:
        team = load_team(path, known)
    except ConfigError as error:
        problems += error.problems
    try:
        task = _task(task_file, asked, known)
    except ConfigError as error:
        problems += error.problems
    if team is None or task is None:
        raise ConfigError(problems)
    return Loaded(team=team, task=task, known=known)


def load_folder(folder: Path, known: Catalogue) -> Loaded:
    """Load what a recorded run was made of.

    Args:
        folder: The run's folder.
        known: What may be named: see `known_again`.

    Raises:
        InputError: It is not the folder of a run, or names what this host does not grant.
    """
    loaded = load_files(str(folder / "team.yaml"), str(folder / "task.json"), None, known)
    origin = read_value(folder / MANIFEST).get("task_file")
    task = replace(loaded.task, origin=Path(origin)) if isinstance(origin, str) else loaded.task
    return replace(loaded, task=task)


def known_again(
    folder: Path,
    known: Catalogue,
    recorded: Mapping[str, Model],
    chosen: tuple[str, ...],
    *,
    offline: bool = False,
) -> Catalogue:
    """Give what this host offers for going on with a recorded run.

    A folder that people mail around says what was asked, and not whom to ask now: addresses, keys
    and headers are the host's alone.

    Args:
        folder: The run's, for messages.
        known: What this host offers.
        recorded: The models that the run called.
        chosen: What `--model` says.
        offline: No model is asked; those that are recorded will do, and are given no key.

    Raises:
        InputError: An alias stands for another model or address here, and `--model` does not name
            it.
    """
    if offline:
        unarmed = {alias: _unarmed(model) for alias, model in recorded.items()}
        return replace(known, models={**known.models, **unarmed})
    named = {choice.partition("=")[0] if "=" in choice else DEFAULT_ALIAS for choice in chosen}
    others = [
        f"{alias} was {_meaning(model)}, and here is {_meaning(known.models.get(alias))}"
        for alias, model in recorded.items()
        if alias not in named and _place(model) != _place(known.models.get(alias))
    ]
    if others:
        words = " ".join(f"--model {alias}=MODEL" for alias in recorded if alias not in named)
        raise InputError(
            f"{folder}: a folder does not say whom to ask, and this host would ask others than was"
            f" recorded: {'; '.join(others)}. Say it yourself: {words}, which is"
            " NAME@http://HOST:PORT/v1, PROVIDER/NAME, local, or an alias of models.yaml."
        )
    return known


def _place(model: Model | None) -> tuple[str, str] | None:
    """Say what is asked, and where."""
    return None if model is None else (model.model, (model.api_base or "").rstrip("/"))


def _meaning(model: Model | None) -> str:
    if model is None:
        return "no model"
    return quoted(f"{model.model}@{model.api_base}" if model.api_base else model.model)


def _unarmed(model: Model) -> Model:
    return replace(model, key_env=None, headers={}, header_env={})


def refuse_unused(chosen: Iterable[str], used: Iterable[str | None]) -> None:
    """Make sure that each alias to which `--model` gives a model is one that may be asked.

    Args:
        chosen: What `--model` says.
        used: The aliases that may be asked.

    Raises:
        InputError: One is not.
    """
    asked = sorted({one for one in used if one is not None})
    for choice in chosen:
        alias, equals, _ = choice.partition("=")
        if equals and alias not in asked:
            aliases = f"The aliases here: {', '.join(asked)}." if asked else "No model is asked."
            hint = did_you_mean(alias, asked) or f" {aliases}"
            raise InputError(f"--model {choice}: nobody here asks the model {quoted(alias)}.{hint}")


def _task(task_file: str | None, asked: Asked | None, known: Catalogue) -> Task:
    from ...schema.loading.loading import load_task, parse_task
    from ...schema.loading.tasks import STREAMS

    if (task_file is None) == (asked is None):
        raise InputError("give a task file, or a question with --query; one of them.")
    if asked is not None:
        return asked.task(known)
    if task_file == "-":
        return parse_task(sys.stdin.buffer.read(), "-", Path(), known)
    if str(task_file).endswith(STREAMS):
        raise InputError(
            f"{task_file}: a file of many tasks. Write mas-bench run {task_file} --team TEAM."
        )
    return load_task(str(task_file), known)
