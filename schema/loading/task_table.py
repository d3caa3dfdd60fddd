"""Tables of tasks: a CSV file, read as the task files that its rows stand for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..values.hints import did_you_mean
from ..values.json_text import dumps
from ..values.problems import Problem, TextPosition, quoted
from .lines import LineTooLong
from .loading import TASK_LIMITS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from .lines import Lines, TextPlace

__all__ = ["read_table"]

FIELDS = ("id", "query", "context", "niche", "answer", "scorer")
INSTEAD = {"reference": "answer"}
LONGEST_CELL = TASK_LIMITS.scalar
"""Characters: what a query may have."""
TOO_LONG = (
    f"a cell is larger than {LONGEST_CELL} characters. Does a quote before it have no end? Keep"
    " long material in a file."
)


def read_table(
    lines: Lines, file: str, begin: TextPlace | None = None
) -> Iterator[tuple[TextPlace, bytes | Problem]]:
    """Read a CSV file: where each row begins, and the task file that it stands for.

    The first row names the columns: `query`, and as many others of `id`, `context`, `niche`,
    `answer` (or `reference`) and `scorer` as are wanted. Empty cells are left out. What is wrong
    with a row stands in its place.

    Args:
        lines: The file's lines, in UTF-8.
        file: The name that messages show.
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
        header = [name.strip().lower() for name in next(rows, [])]
        fields = [INSTEAD.get(name, name) for name in header]
        if problems := [*_header_problems(header, fields)]:
            yield from map(wrong, problems)
            return
        if begin is not None:
            lines.seek(begin)
        place = lines.place
        for row in rows:
            if any(row) and len(row) != len(fields):
                many = f"{len(row)} cells, and the first row has {len(fields)}."
                yield wrong(f"{many} A cell with a comma stands in quotes.")
            elif any(row):
                cells = zip(fields, row, strict=True)
                yield place, dumps({name: cell for name, cell in cells if cell}).encode()
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


def _header_problems(names: Sequence[str], fields: Sequence[str]) -> Iterator[str]:
    known = (*FIELDS, *INSTEAD)
    for name in dict.fromkeys(names):
        if name not in known:
            hint = did_you_mean(name, known) or f" Columns: {', '.join(known)}."
            yield f"no column is called {quoted(name)}.{hint}"
    for field in FIELDS:
        if fields.count(field) > 1:
            yield f"two columns are the {field}. Leave one out."
    if "query" not in fields:
        yield "there is no column query. The first row names the columns, parted by commas."
