"""Tables of tasks: a CSV file, read as the task files that its rows stand for."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

from ..values.hints import did_you_mean
from ..values.json_text import dumps
from ..values.problems import Problem, TextPosition, quoted

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["read_table"]

FIELDS = ("id", "query", "context", "niche", "answer", "scorer")
INSTEAD = {"reference": "answer"}


def read_table(content: bytes, file: str) -> Iterator[tuple[int, bytes | Problem]]:
    """Read a CSV file: the line where each row begins, and the task file that it stands for.

    The first row names the columns: `query`, and as many others of `id`, `context`, `niche`,
    `answer` (or `reference`) and `scorer` as are wanted. Empty cells are left out. What is wrong
    with a row stands in its place.

    Args:
        content: The file's bytes, in UTF-8.
        file: The name that messages show.
    """
    import csv

    def wrong(message: str) -> tuple[int, Problem]:
        return line, Problem(file=file, place=TextPosition(line=line), message=message)

    line = 1
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line += content.count(b"\n", 0, error.start)
        yield wrong("it is not UTF-8 text.")
        return
    rows = csv.reader(io.StringIO(text, newline=""), strict=True)
    try:
        header = [name.strip().lower() for name in next(rows, [])]
        fields = [INSTEAD.get(name, name) for name in header]
        if problems := [*_header_problems(header, fields)]:
            yield from map(wrong, problems)
            return
        line = rows.line_num + 1
        for row in rows:
            if any(row) and len(row) != len(fields):
                many = f"{len(row)} cells, and the first row has {len(fields)}."
                yield wrong(f"{many} A cell with a comma stands in quotes.")
            elif any(row):
                cells = zip(fields, row, strict=True)
                yield line, dumps({name: cell for name, cell in cells if cell}).encode()
            line = rows.line_num + 1
    except csv.Error as error:
        yield wrong(f"not CSV: {error}.")


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
