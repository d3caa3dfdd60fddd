"""Tables of tasks: a CSV file, read as the task files that its rows stand for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ..values.hints import did_you_mean, listed
from ..values.json_text import dumps
from ..values.problems import Problem, TextPosition, quoted
from .lines import Lines, LineTooLong, TextPlace
from .loading import TASK_LIMITS
from .task_form import FIELDS, TaskForm

INSTEAD = {"reference": "answer"}
LONGEST_CELL = TASK_LIMITS.scalar
"""Characters: what a query may have."""
TOO_LONG = (
    f"a cell is larger than {LONGEST_CELL} characters. Does a quote before it have no end? Keep"
    " long material in a file."
)


def read_table(
    lines: Lines, file: str, form: TaskForm, begin: TextPlace | None = None
) -> Iterator[tuple[TextPlace, bytes | Problem]]:
    """Read a CSV file: where each row begins, and the task file that it stands for.

    The first row names the columns: `query`, and as many others of `id`, `context`, `niche`,
    `answer` (or `reference`) and `scorer` as are wanted. All others become `fields` of the tasks.
    Empty cells are left out, but for those of fields. What is wrong with a row stands in its place.

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
        yield wrong("it is not UTF-8 text.")
    except LineTooLong as error:
        yield wrong(str(error))


def _decoded(lines: Lines) -> Iterator[str]:
    for line in lines:
        yield line.decode("utf-8-sig" if lines.place.line == 2 else "utf-8")


def _path(column: str, form: TaskForm) -> tuple[str, ...]:
    """Return where a column goes; without a map, `reference` is the answer."""
    named = form.columns and column in form.columns
    return form.path_of(column if named else INSTEAD.get(column.lower(), column.lower()))


def _task(paths: Sequence[tuple[str, ...]], row: Sequence[str], form: TaskForm) -> dict[str, Any]:
    """Return a row as a task file."""
    pairs = zip(paths, row, strict=True)
    cells = [(path, form.value_at(path, cell)) for path, cell in pairs]
    fields = {path[-1]: cell for path, cell in cells if len(path) > 1}
    task = {path[0]: cell for path, cell in cells if cell and len(path) == 1}
    return {**task, **({"fields": fields} if fields else {})}


def _header_problems(
    names: Sequence[str], paths: Sequence[tuple[str, ...]], form: TaskForm
) -> Iterator[str]:
    known = (*FIELDS, *INSTEAD)
    for name in form.columns or ():
        if name not in names:
            yield f"no column is called {quoted(name)}.{did_you_mean(name, names)}"
    for name, path in zip(names, paths, strict=True):
        if form.columns is None and len(path) > 1 and (hint := did_you_mean(name.lower(), known)):
            yield f"no column is called {quoted(name)}.{hint} Or map the columns with --map."
    for path in dict.fromkeys(paths):
        if paths.count(path) > 1:
            yield f"two columns hold the {path[-1]}. Leave one out."
    if ("query",) not in paths:
        how = (
            "The first row must name the columns, separated by commas; or map a column with --map."
        )
        yield f"there is no column query, only {listed(map(quoted, names))}. {how}"
