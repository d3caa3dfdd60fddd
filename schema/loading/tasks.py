"""Streams of tasks: the lines of a file, the rows of a table, or the files of a folder."""

from __future__ import annotations

import re
import sys
from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any, overload

from ..host.catalogue import Catalogue
from ..team.task import Task
from ..values.errors import ConfigError, InputError
from ..values.hints import did_you_mean, listed
from ..values.json_text import dumps
from ..values.problems import MOST_PROBLEMS, Problem, TextPosition, quoted
from ..values.yaml_text import UTF_16
from .lines import Lines, LineTooLong, TextPlace
from .loading import STREAMS, TASK_LIMITS, THERE_ARE_MORE, open_file, parse_task, read_file
from .task_form import FIELDS, PLAIN, TaskForm

MOST_NAMED = 10
"""The maximum number of tasks named in a message."""

MOST_OF_NAME = 100
LARGEST_IN_MEMORY = 32 << 20
"""Maximum bytes of a file whose tasks all stay in memory."""
INSTEAD = {"reference": "answer"}
LONGEST_CELL = TASK_LIMITS.scalar
"""Maximum characters of a cell, which are those of a query."""
TOO_LONG = (
    f"a cell is larger than {LONGEST_CELL} characters. Does a quote before it have no end? Keep"
    " long material in a file."
)


def load_tasks(path: Path, catalogue: Catalogue, form: TaskForm = PLAIN) -> list[Task]:
    """Load a stream of tasks, in order: the lines of a file, or the files of a folder by name."""
    return [*placed_tasks(path, catalogue, form).values()]


def placed_tasks(path: Path, catalogue: Catalogue, form: TaskForm = PLAIN) -> Mapping[str, Task]:
    """Load a stream of tasks as `load_tasks` does, by place: `file:line`.

    A `.csv` file is a table; in any other file, each line is a task file. A task without an id gets
    one from the file's name and the line number.
    """
    reader = _TaskReader(path=path, catalogue=catalogue, form=form)
    return {f"{task.origin}:{place.line}": task for place, task in reader.checked()}


def open_tasks(
    path: Path,
    catalogue: Catalogue,
    form: TaskForm = PLAIN,
    *,
    then: Callable[[Task], Task] = lambda task: task,
) -> Sequence[Task]:
    """Load the tasks of a file; of a large file, keep only places and read each task on access."""
    reader = _TaskReader(path=path, catalogue=catalogue, form=form, then=then)
    is_large = path.is_file() and path.stat().st_size > LARGEST_IN_MEMORY
    return TaskFile(reader) if is_large else [task for _, task in reader.checked()]


@dataclass(frozen=True, kw_only=True, slots=True)
class _TaskReader:
    """Reads a stream of tasks; the fields are those of `open_tasks`."""

    path: Path
    catalogue: Catalogue
    form: TaskForm
    then: Callable[[Task], Task] = lambda task: task

    def checked(self) -> Iterator[tuple[TextPlace, Task]]:
        """Yield all tasks, then raise all their problems; see `load_tasks`."""
        if self.path.suffix in {".yaml", ".yml"}:
            raise InputError(f"{self.path}: tasks are a {' or '.join(STREAMS)} file, not YAML.")
        problems: list[Problem] = []
        ids = array("q")
        for place, task in self.read(problems):
            ids.append(hash(task.id))
            yield place, task
        problems += self._same_ids(ids)
        if len(problems) >= MOST_PROBLEMS:
            problems[-1] = replace(problems[-1], path="", message=THERE_ARE_MORE)
        if problems:
            raise ConfigError(problems)
        if not ids:
            raise InputError(f"{self.path}: it has no tasks.")

    def read(
        self, problems: list[Problem], begin: TextPlace | None = None
    ) -> Iterator[tuple[TextPlace, Task]]:
        """Yield tasks from a place on, and collect problems up to the maximum shown."""
        for file, place, content in self._texts(begin):
            try:
                if isinstance(content, Problem):
                    raise ConfigError([content])  # noqa: TRY301 - as parsing does
                yield place, self._task(file, place, content)
            except ConfigError as error:
                problems += error.problems[: MOST_PROBLEMS - len(problems)]
            if len(problems) == MOST_PROBLEMS:
                return

    def _task(self, file: str, place: TextPlace, content: bytes) -> Task:
        is_folder = file != str(self.path)
        form = self.form if is_folder else replace(self.form, id=_id(self.path, place.line))
        if self.path.suffix == ".csv":
            form = replace(form, columns=None)
        try:
            # With the line in its name, a JSONL file is never read as YAML, whatever its suffix.
            task = parse_task(
                content,
                file if is_folder else f"{file}:{place.line}",
                self.path if is_folder else self.path.parent,
                self.catalogue,
                form,
            )
        except ConfigError as error:
            placed = (
                (_place(problem, place.line, self.path), problem) for problem in error.problems
            )
            raise ConfigError(
                [replace(it, file=file, place=there) for there, it in placed]
            ) from None
        return self.then(replace(task, origin=Path(file)))

    def _texts(
        self, begin: TextPlace | None = None
    ) -> Iterator[tuple[str, TextPlace, bytes | Problem]]:
        """Yield the text of each task, with its file and its place."""
        if self.path.is_dir():
            for file in sorted(self.path.glob("*.json")):
                yield str(file), TextPlace(), read_file(file, root=self.path)
            return
        file = str(self.path)
        with open_file(self.path) as stream:
            if self.path.suffix == ".csv":
                texts = read_table(Lines(stream), file, self.form, begin)
            else:
                texts = _read_lines(Lines(stream), file, begin)
            yield from ((file, *text) for text in texts)

    def _same_ids(self, ids: array[int]) -> Iterator[Problem]:
        """Yield a problem for each repeated id. Only tasks with equal hashes are compared."""
        twice = {first for first, second in pairwise(sorted(ids)) if first == second}
        places: dict[str, str] = {}
        for place, task in self.read([]) if twice else ():
            here = f"{task.origin}:{place.line}"
            if hash(task.id) in twice and (first := places.setdefault(task.id, here)) != here:
                both = f"two tasks have the id {quoted(task.id)}, this and {first}."
                at, why = TextPosition(line=place.line), f"{both} Each needs its own."
                yield Problem(file=str(task.origin), place=at, path="id", message=why)


class TaskFile(Sequence[Task]):
    """The tasks of a file that is too large for memory; each is read on access."""

    def __init__(self, reader: _TaskReader) -> None:
        """Check all tasks, as `open_tasks` does."""
        self._reader = reader
        self._places = array("Q")
        self.niches: list[str | None] = []
        for place, task in reader.checked():
            self._places.extend(place)
            self.niches.append(task.niche and sys.intern(task.niche))

    def __len__(self) -> int:
        """Return the number of tasks."""
        return len(self.niches)

    @overload
    def __getitem__(self, at: int) -> Task: ...
    @overload
    def __getitem__(self, at: slice) -> list[Task]: ...
    def __getitem__(self, at: int | slice) -> Task | list[Task]:
        """Read one task, or a slice."""
        if isinstance(at, slice):
            return [self[index] for index in range(*at.indices(len(self)))]
        at = range(len(self))[at]
        problems: list[Problem] = []
        begin = TextPlace(*self._places[2 * at : 2 * at + 2])
        task = next((task for _, task in self._reader.read(problems, begin)), None)
        if task is None or problems:
            raise InputError(f"{self._reader.path}: it changed while it was read.")
        return task

    def __iter__(self) -> Iterator[Task]:
        """Yield all tasks in order."""
        return (task for _, task in self._reader.read([]))


def _read_lines(
    lines: Lines, file: str, begin: TextPlace | None = None
) -> Iterator[tuple[TextPlace, bytes | Problem]]:
    """Yield the non-empty lines, each with its place."""
    if begin is not None:
        lines.seek(begin)
    place = lines.place
    try:
        for line in lines:
            if line.strip():
                yield place, line
            if line.startswith(UTF_16):  # each of its lines would be a problem
                return
            place = lines.place
    except LineTooLong as error:
        at = TextPosition(line=place.line)
        yield place, Problem(file=file, place=at, message=str(error))


def _id(path: Path, line: int) -> str:
    """Return a task's default id, from its file's name and its line."""
    stem = re.sub(r"[^A-Za-z0-9_-]+", "_", path.stem).strip("_-") or "task"
    return f"{stem[:MOST_OF_NAME]}-{line}"


def _place(problem: Problem, line: int, path: Path) -> TextPosition:
    """Return a problem's place in the file from the line where its task begins."""
    if path.suffix == ".csv":
        return TextPosition(line=line)
    return TextPosition(line=line + problem.place.line - 1, column=problem.place.column)


def require_answers(tasks: Sequence[Task]) -> None:
    """Check that every task can be scored against a reference answer.

    Raises:
        InputError: Some tasks have none; the message names the first of them.
    """
    without = [task.id for task in tasks if not task.is_scored]
    if without:
        named = ", ".join(map(repr, without[:MOST_NAMED]))
        more = f" and {len(without) - MOST_NAMED} more" if len(without) > MOST_NAMED else ""
        noun, verb = ("task", "has") if len(without) == 1 else ("tasks", "have")
        raise InputError(
            f"{noun} {named}{more} {verb} no answer to score against. Add one, or score"
            " without: --scorer judge of mas-bench run, --scorer FILE.py:FUNCTION, or score: auto"
            " in a recipe."
        )


def read_table(
    lines: Lines, file: str, form: TaskForm, begin: TextPlace | None = None
) -> Iterator[tuple[TextPlace, bytes | Problem]]:
    """Read a CSV file: yield each row's place and its content as a task file.

    The first row names the columns: `query`, and any of `id`, `context`, `niche`, `answer` (or
    `reference`) and `scorer`. All others become `fields` of the tasks. Empty cells are left out,
    except in `fields`. A problem of a row takes the row's place.

    Args:
        lines: The file's lines, in UTF-8.
        begin: The place of the first row to read. Default: the first of all.
    """
    import csv

    if csv.field_size_limit() < LONGEST_CELL:
        csv.field_size_limit(LONGEST_CELL)  # the module has one limit for the whole process

    place = lines.place

    def wrong(message: str) -> tuple[TextPlace, Problem]:
        return place, Problem(file=file, place=TextPosition(line=place.line), message=message)

    rows = csv.reader(_decoded(lines), strict=True)
    try:
        header = [name.strip() for name in next(rows, [])]
        paths = [_path(name, form) for name in header]
        if problems := [*_header_problems(header, paths, form)]:
            yield from map(wrong, problems)
            return
        if begin is not None:
            lines.seek(begin)
        place = lines.place
        for row in rows:
            if any(row) and len(row) != len(paths):
                many = f"{len(row)} cells, and the first row has {len(paths)}."
                yield wrong(f"{many} Put a cell with a comma in quotes.")
            elif any(row):
                yield place, dumps(_task(paths, row, form)).encode()
            place = lines.place
    except csv.Error as error:
        yield wrong(TOO_LONG if "field limit" in str(error) else f"not CSV: {error}.")
    except UnicodeDecodeError:
        place = lines.place._replace(line=lines.place.line - 1)
        yield wrong("it is not UTF-8 text. Save it as UTF-8.")
    except LineTooLong as error:
        yield wrong(str(error))


def _decoded(lines: Lines) -> Iterator[str]:
    for line in lines:
        yield line.decode("utf-8-sig" if lines.place.line == 2 else "utf-8")


def _path(column: str, form: TaskForm) -> tuple[str, ...]:
    """Return the path that a column fills; `reference` fills the answer unless it is mapped."""
    named = form.columns and column in form.columns
    return form.path_of(column if named else INSTEAD.get(column.lower(), column.lower()))


def _task(paths: Sequence[tuple[str, ...]], row: Sequence[str], form: TaskForm) -> dict[str, Any]:
    """Return a row as the fields of a task file."""
    pairs = zip(paths, row, strict=True)
    cells = [(path, form.value_at(path, cell)) for path, cell in pairs]
    fields = {path[-1]: cell for path, cell in cells if len(path) > 1}
    task = {path[0]: cell for path, cell in cells if cell and len(path) == 1}
    return {**task, **({"fields": fields} if fields else {})}


def _header_problems(
    names: Sequence[str], paths: Sequence[tuple[str, ...]], form: TaskForm
) -> Iterator[str]:
    fields = (*FIELDS, *INSTEAD)
    for name in form.columns or ():
        if name not in names:
            yield f"no column is called {quoted(name)}.{did_you_mean(name, names)}"
    for name, path in zip(names, paths, strict=True):
        if form.columns is None and len(path) > 1 and (hint := did_you_mean(name.lower(), fields)):
            yield f"no column is called {quoted(name)}.{hint} Or map the columns with --map."
    for path in dict.fromkeys(paths):
        if paths.count(path) > 1:
            yield f"two columns hold the {path[-1]}. Leave one out."
    if ("query",) not in paths:
        how = (
            "The first row must name the columns, separated by commas; or map a column with --map."
        )
        yield f"there is no column query, only {listed(map(quoted, names))}. {how}"
