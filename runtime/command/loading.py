"""Loads what commands run: a team and a task, the folder of a run, the embedded model."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from ...schema.host.catalogue import Catalogue
from ...schema.host.models import EMBEDDED, Model
from ...schema.loading.task_form import TaskForm
from ...schema.team.task import Task
from ...schema.team.team import Team
from ...schema.values.errors import ConfigError, InputError
from ...schema.values.hints import did_you_mean
from ...schema.values.problems import Problem, quoted


@dataclass(frozen=True, kw_only=True, slots=True)
class Loaded:
    """A team and a task, the names that they were loaded with, and files to keep beside them."""

    team: Team
    task: Task
    catalogue: Catalogue
    files: Mapping[str, str] = field(default_factory=dict[str, str])


def load_team_of(team_file: str, catalogue: Catalogue) -> tuple[Team, Catalogue, Path]:
    """Load a team.

    Args:
        team_file: A path, or `seed:NAME`.

    Returns:
        The team, the catalogue of the names that it may use, and the folder of the file.
    """
    from ...schema.loading.loading import load_team, team_path

    path = team_path(team_file)
    catalogue = catalogue.beside(path.parent)
    return load_team(path, catalogue), catalogue, path


@dataclass(frozen=True, kw_only=True, slots=True)
class TypedQuestion:
    """A question on the command line, in place of a task file."""

    query: str
    context: str = ""
    files: tuple[Path, ...] = ()
    repo: Path | None = None

    def task(self, catalogue: Catalogue, form: TaskForm) -> Task:
        """Return the question as a task."""
        from ...schema.loading.loading import parse_task
        from ...schema.values.json_text import dumps

        fields = {"query": self.query, "context": self.context, "repo": str(self.repo or "")}
        written = {"id": "query", **{name: text for name, text in fields.items() if text}}
        task = parse_task(dumps(written).encode(), "--query", Path(), catalogue, form)
        if not self.files:
            return task
        from ...schema.loading.task_files import by_kind, given_files

        return replace(task, **by_kind(given_files(self.files)))


def load_files(
    team_file: str,
    task_file: str | None,
    question: TypedQuestion | None,
    catalogue: Catalogue,
    form: TaskForm,
) -> Loaded:
    """Load a team and a task; the problems of both are shown together.

    Args:
        team_file: A path, or `seed:NAME`.
        task_file: A path, or `-` for standard input: a task as JSON, or a question as text.

    Raises:
        InputError: A file does not load.
    """
    from ...schema.loading.loading import load_team, team_path

    path = team_path(team_file)
    catalogue = catalogue.beside(path.parent)
    problems: list[Problem] = []
    team, task = None, None
    try:
        team = load_team(path, catalogue)
    except ConfigError as error:
        problems += error.problems
    try:
        task = _task(task_file, question, catalogue, form)
    except ConfigError as error:
        problems += error.problems
    if team is None or task is None:
        raise ConfigError(problems)
    return Loaded(team=team, task=task, catalogue=catalogue)


def load_folder(folder: Path, catalogue: Catalogue) -> Loaded:
    """Load the team and task of a recorded run; see `runs.again.load_recorded`."""
    from ..runs.again import load_recorded

    team, task, catalogue = load_recorded(folder, catalogue)
    return Loaded(team=team, task=task, catalogue=catalogue)


def load_continued(
    folder: Path,
    team_file: str | None,
    question: TypedQuestion | None,
    catalogue: Catalogue,
    form: TaskForm,
) -> Loaded:
    """Load what continues a recorded run: its team or another one, and the next question.

    The new task carries the earlier questions and answers, the files and the repository.

    Args:
        team_file: A path, or `seed:NAME`; None: the run's own team.

    Raises:
        InputError: Something does not load, the run has no answer, or there is no question.
    """
    from ..runs.again import load_recorded
    from ..runs.conversation import continued_run

    if question is None:
        raise InputError("--continue: give the next question with --query.")
    team, earlier, beside = load_recorded(folder, catalogue)
    task, files = continued_run(folder, earlier, question.task(catalogue, form))
    if team_file is not None:
        team, beside, _ = load_team_of(team_file, catalogue)
    return Loaded(team=team, task=task, catalogue=beside, files=files)


def fetch_embedded(models: Iterable[Model]) -> None:
    """Fetch the embedded model, if it is among these and not yet here."""
    if any(model.model == EMBEDDED for model in models):
        from .models import pull_with_progress

        pull_with_progress()


def standard_input() -> str:
    """Read a text from standard input.

    Raises:
        InputError: It is empty, or not UTF-8.
    """
    try:
        text = sys.stdin.buffer.read().decode("utf-8-sig").strip()
    except UnicodeDecodeError:
        raise InputError("standard input is not UTF-8 text.") from None
    if not text:
        raise InputError("standard input is empty. Expected a question, or a task as JSON.")
    return text


def refuse_unused(chosen: Iterable[str], used: Iterable[str | None]) -> None:
    """Refuse a `--model` whose alias no agent or operator uses.

    Args:
        chosen: The models that `--model` gives, by alias.
        used: The aliases that may be called.

    Raises:
        InputError: An alias is unused.
    """
    names = sorted({name for name in used if name is not None})
    for choice in chosen:
        alias, equals, _ = choice.partition("=")
        if equals and alias not in names:
            aliases = f"Aliases in use: {', '.join(names)}." if names else "No model is called."
            hint = did_you_mean(alias, names) or f" {aliases}"
            raise InputError(
                f"--model {choice}: no agent here uses the model {quoted(alias)}.{hint}"
            )


def _task(
    task_file: str | None, question: TypedQuestion | None, catalogue: Catalogue, form: TaskForm
) -> Task:
    from ...schema.loading.loading import STREAMS, load_task, parse_task

    if (task_file is None) == (question is None):
        raise InputError("give either a task file or a question with --query.")
    if question is not None:
        return question.task(catalogue, form)
    if task_file == "-":
        text = standard_input()
        if text.startswith("{"):
            return parse_task(text.encode(), "-", Path(), catalogue, form)
        return TypedQuestion(query=text).task(catalogue, form)
    if str(task_file).endswith(STREAMS):
        raise InputError(
            f"{task_file}: a file of many tasks. Write mas-bench run {task_file} --team TEAM."
        )
    return load_task(str(task_file), catalogue, form)
