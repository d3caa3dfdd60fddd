"""How tools search for rows: by expressions, by bounds, and by dates in human notation."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import Any

from ...runtime.tools import ToolError
from ...runtime.tools.expressions import expression
from .operation import NOW, Workplace
from .table import Table, is_missing

LONGEST_DATE = 100  # characters
_NEVER = frozenset({"NAN", "NAT", "NaN", "NaT", "nan", "nat"})
_EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001 - the benchmark's world has no zones


def expression_in(pattern: Any, *, ignore_case: bool = True) -> Callable[[Any], bool | None]:
    """Return a test whether a regular expression occurs in a cell; None for a cell without text.

    Raises:
        TypeError: The pattern is no text.
        ToolError: It is not a regular expression, or not a harmless one.
    """
    if not isinstance(pattern, str):
        raise TypeError(f"a pattern is text, not {pattern!r}")
    find = expression(f"(?i){pattern}" if ignore_case else pattern)
    _check_plain(pattern)
    return lambda cell: find(cell) >= 0 if isinstance(cell, str) else None


def _check_plain(pattern: str) -> None:
    """Refuse expressions that only the search engine here accepts, and not Python's own."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Python warns of syntax whose meaning may change
            re.compile(pattern)
    except (re.error, OverflowError, RecursionError) as error:
        raise ToolError(f"{pattern!r} is not a regular expression: {error}.") from None


def containing(table: Table, patterns: Mapping[str, Any]) -> Table:
    """Return the rows with an expression in each column, in any case; an empty one fits all.

    Raises:
        ValueError: A cell of such a column is no text, such as a missing one.
        TypeError: A pattern is no text.
        ToolError: It is not a regular expression, or not a harmless one.
    """
    for column, pattern in patterns.items():
        if pattern:
            table = _containing(table, column, expression_in(pattern))
    return table


def _containing(table: Table, column: str, occurs: Callable[[Any], bool | None]) -> Table:
    flags = [occurs(cell) for cell in table.cells(column)]
    if None in flags:
        raise ValueError(f"some cells of {column} hold no text, and cannot be searched")
    return table.without([place for place, is_there in enumerate(flags) if not is_there])


def bounded(table: Table, column: str, lowest: Any, highest: Any) -> Table:
    """Return the rows with a cell between two texts; an empty bound sets no limit."""
    if lowest:
        table = _compared(table, column, lowest, lambda cell: cell >= lowest)
    if highest:
        table = _compared(table, column, highest, lambda cell: cell <= highest)
    return table


def _compared(table: Table, column: str, bound: Any, fits: Callable[[Any], bool]) -> Table:
    if isinstance(bound, list):
        raise ValueError(f"{bound!r} cannot be compared with the cells of {column}")  # noqa: TRY004
    cells = table.cells(column)
    return table.without([n for n, cell in enumerate(cells) if is_missing(cell) or not fits(cell)])


def look_up(table: Table, kind: str, key: Any, field: Any) -> Any:
    """Return a field of the first row with an id, as a mapping, or an error message."""
    if not key:
        return f"{kind} ID not provided."
    if not field:
        return "Field not provided."
    places = table.where(f"{kind.lower()}_id", key)
    if not places:
        return f"{kind} not found."
    if not table.has(field):
        return "Field not found."
    return {field: table.records(places[:1])[0][field]}


def delete(at: Workplace, kind: str, key: Any) -> str:
    """Remove all rows with an id from the table of a kind, and return a message."""
    if not key:
        return f"{kind} ID not provided."
    name = f"{kind.lower()}s"
    table: Table = getattr(at.tables, name)
    places = table.where(f"{kind.lower()}_id", key)
    if not places:
        return f"{kind} not found."
    at.change(**{name: table.without(places)})
    return f"{kind} deleted successfully."


def moment(value: Any) -> datetime | None:
    """Parse a point in time in any common notation; month before day if both are possible.

    Missing parts are taken from the first of January of the year 1; a number counts nanoseconds
    from 1970. `now` and `today` are the benchmark's.

    Returns:
        None for a text that means no time, such as `NaT`. It is neither before nor after anything.

    Raises:
        ValueError: It is no time.
        OverflowError: It is too far away.
        TypeError: It is neither text nor a number.
    """
    from dateutil import parser

    if isinstance(value, datetime):
        return value
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise TypeError(f"{value!r} is no time")
    if not isinstance(value, str):
        return _EPOCH + timedelta(microseconds=int(value) // 1_000)
    if value in _NEVER:
        return None
    if value in {"now", "today"}:
        return NOW
    if not _may_be_date(value):
        raise ValueError(f"{value[:80]!r} is no time")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # dateutil warns of unknown time zones
        return parser.parse(value, default=datetime(1, 1, 1))  # noqa: DTZ001 - see NOW


def _may_be_date(text: str) -> bool:
    if len(text) > LONGEST_DATE or not any(char.isdigit() for char in text):
        return False
    try:
        return float(text) >= 1000 or text.startswith("0")
    except ValueError:
        return True
