"""Streams of tasks: the lines of a file, or the files of a folder."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from .errors import ConfigError, InputError
from .loading import parse_task, read_file
from .problems import Place, Problem, quoted

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from .catalogue import Catalogue
    from .task import Task

__all__ = ["load_tasks", "placed_tasks"]


def load_tasks(path: Path, known: Catalogue) -> list[Task]:
    """Load a stream of tasks, in order: the lines of a file, or the files of a folder by name.

    Raises:
        InputError: There is no such file, or no task in it.
        ConfigError: Tasks do not load, or have the same id; the exception has every problem.
    """
    return [*placed_tasks(path, known).values()]


def placed_tasks(path: Path, known: Catalogue) -> Mapping[str, Task]:
    """Load a stream of tasks as `load_tasks` does, each by the place that it has: `file:line`.

    Raises:
        InputError: As for `load_tasks`.
        ConfigError: The same.
    """
    tasks: dict[str, Task] = {}
    problems: list[Problem] = []
    seen: dict[str, str] = {}
    is_folder = path.is_dir()
    for file, line, content in _texts(path):
        here = f"{file}:{line}"
        try:
            # Named by its line, a JSONL file is never taken for YAML, whatever it is called.
            name = file if is_folder else here
            task = parse_task(content, name, path if is_folder else path.parent, known)
        except ConfigError as error:
            problems += [replace(one, file=file, place=_place(one, line)) for one in error.problems]
            continue
        tasks[here] = task
        if (first := seen.setdefault(task.id, here)) != here:
            why = f"two tasks have the id {quoted(task.id)}, this and {first}. Each needs its own."
            problems.append(Problem(file=file, place=Place(line=line), path="id", message=why))
    if problems:
        raise ConfigError(problems)
    if not tasks:
        raise InputError(f"{path}: there is no task in it.")
    return tasks


def _texts(path: Path) -> Iterator[tuple[str, int, bytes]]:
    """Give each task's text, with its file and the line where it begins."""
    if path.is_dir():
        for one in sorted(path.glob("*.json")):
            yield str(one), 1, read_file(one)
        return
    for number, line in enumerate(read_file(path).splitlines(), start=1):
        if line.strip():
            yield str(path), number, line


def _place(problem: Problem, line: int) -> Place:
    """Give a problem's place in a file, in which its task begins at a line."""
    return Place(line=line + problem.place.line - 1, column=problem.place.column)
