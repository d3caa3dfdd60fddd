"""Streams of tasks: the lines of a file, the rows of a table, or the files of a folder."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from ..values.document import DocumentLimits
from ..values.errors import ConfigError, InputError
from ..values.problems import Problem, TextPosition, quoted
from .loading import parse_task, read_file
from .task_table import read_table

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ..host.catalogue import Catalogue
    from ..team.task import Task

__all__ = ["STREAMS", "load_tasks", "placed_tasks", "require_answers"]

MOST_NAMED = 10
"""Tasks that a message names."""

STREAMS = (".jsonl", ".csv")
"""The endings of files that have many tasks."""
MOST_OF_NAME = 100
STREAM_LIMITS = DocumentLimits(bytes=256 << 20)
"""Of a file of many tasks; each of them is bounded as a task file is."""


def load_tasks(path: Path, known: Catalogue, *, scorer: str = "exact") -> list[Task]:
    """Load a stream of tasks, in order: the lines of a file, or the files of a folder by name.

    Raises:
        InputError: There is no such file, or no task in it.
        ConfigError: Tasks do not load, or have the same id; the exception has every problem.
    """
    return [*placed_tasks(path, known, scorer=scorer).values()]


def placed_tasks(path: Path, known: Catalogue, *, scorer: str = "exact") -> Mapping[str, Task]:
    """Load a stream of tasks as `load_tasks` does, each by the place that it has: `file:line`.

    A file whose name ends with `.csv` is a table; of any other each line is a task file. There, a
    task without an id is called by the file's name and its line.

    Args:
        path: The file, or the folder.
        known: What names are known.
        scorer: Scores the tasks that name no scorer.

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
        if isinstance(content, Problem):
            problems.append(content)
            continue
        try:
            # Named by its line, a JSONL file is never taken for YAML, whatever it is called.
            task = parse_task(
                content,
                file if is_folder else here,
                path if is_folder else path.parent,
                known,
                unsaid={"scorer": scorer} | ({} if is_folder else {"id": _id(path, line)}),
            )
        except ConfigError as error:
            found = ((_place(problem, line, path), problem) for problem in error.problems)
            problems += [replace(one, file=file, place=place) for place, one in found]
            continue
        tasks[here] = replace(task, origin=Path(file))
        if (first := seen.setdefault(task.id, here)) != here:
            why = f"two tasks have the id {quoted(task.id)}, this and {first}. Each needs its own."
            problems.append(
                Problem(file=file, place=TextPosition(line=line), path="id", message=why)
            )
    if problems:
        raise ConfigError(problems)
    if not tasks:
        raise InputError(f"{path}: there is no task in it.")
    return tasks


def _texts(path: Path) -> Iterator[tuple[str, int, bytes | Problem]]:
    """Give each task's text, with its file and the line where it begins."""
    if path.is_dir():
        for one in sorted(path.glob("*.json")):
            yield str(one), 1, read_file(one, root=path)
        return
    content = read_file(path, STREAM_LIMITS)
    if len(content) > STREAM_LIMITS.bytes:
        most = f"{STREAM_LIMITS.bytes:,} bytes"
        raise InputError(f"{path}: the file is larger than {most}. Give parts of it, one by one.")
    if path.suffix == ".csv":
        yield from ((str(path), line, text) for line, text in read_table(content, str(path)))
        return
    for number, line in enumerate(content.splitlines(), start=1):
        if line.strip():
            yield str(path), number, line


def _id(path: Path, line: int) -> str:
    """Name a task by where it stands."""
    stem = re.sub(r"[^A-Za-z0-9_-]+", "_", path.stem).strip("_-") or "task"
    return f"{stem[:MOST_OF_NAME]}-{line}"


def _place(problem: Problem, line: int, path: Path) -> TextPosition:
    """Give a problem's place in a file, in which its task begins at a line; of a row, that line."""
    if path.suffix == ".csv":
        return TextPosition(line=line)
    return TextPosition(line=line + problem.place.line - 1, column=problem.place.column)


def require_answers(tasks: Sequence[Task]) -> None:
    """Make sure that every task can be scored by its reference answer.

    Raises:
        InputError: Some have none; the first of them are named.
    """
    without = [task.id for task in tasks if task.answer is None]
    if without:
        named = ", ".join(map(repr, without[:MOST_NAMED]))
        more = f" and {len(without) - MOST_NAMED} more" if len(without) > MOST_NAMED else ""
        noun, verb = ("task", "has") if len(without) == 1 else ("tasks", "have")
        raise InputError(
            f"{noun} {named}{more} {verb} no answer to score against. Add one, or have a judge"
            " score: score: auto in a recipe, --scorer judge of mas-bench run."
        )
