"""A small immutable table: the features of a data frame that the benchmark's verdicts need."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

Row = tuple[Any, ...]

MISSING = math.nan
"""The value of a cell that was empty in the file. None in a cell is missing, too."""

_LARGEST_WHOLE = 2**63


@dataclass(frozen=True, kw_only=True, slots=True)
class Table:
    """Rows under named columns, each row with a label, as in the original.

    Labels matter: tables are equal only if their labels are, and a mail is written at the label
    that equals the number of rows, whether or not a row has it already. Every change gives a new
    table that shares unchanged rows with the old one.

    Attributes:
        columns: The names, usually text; calls may add others.
        labels: One for each row. They may be unordered and repeated.
    """

    columns: Row
    labels: tuple[int, ...]
    rows: tuple[Row, ...]

    @classmethod
    def of(cls, columns: Iterable[str], rows: Iterable[Row]) -> Self:
        """Return a table whose rows are labelled from 0."""
        contents = tuple(rows)
        return cls(columns=tuple(columns), labels=tuple(range(len(contents))), rows=contents)

    def __len__(self) -> int:
        return len(self.rows)

    def has(self, column: Any) -> bool:
        """Return whether there is such a column.

        Raises:
            TypeError: The value cannot name a column: it is a list or a mapping.
        """
        hash(column)
        return column in self.columns

    def cells(self, column: Any) -> list[Any]:
        """Return a column's cells."""
        place = self.columns.index(column)
        return [row[place] for row in self.rows]

    def where(self, column: str, value: Any) -> list[int]:
        """Return the positions of rows whose cell equals a value; a missing cell equals nothing.

        Raises:
            ValueError: The value is a list, which is compared item by item, of another length.
        """
        cells = self.cells(column)
        values = value if isinstance(value, list) else [value] * len(cells)
        if len(values) != len(cells):
            raise ValueError(f"{len(values)} values cannot be compared with {len(cells)} rows")
        pairs = enumerate(zip(cells, values, strict=True))
        return [place for place, (cell, value) in pairs if cell == value and not is_missing(cell)]

    def records(self, places: Iterable[int] | None = None) -> list[dict[Any, Any]]:
        """Return rows as mappings from column to cell; by default all of them."""
        chosen = self.rows if places is None else [self.rows[place] for place in places]
        return [dict(zip(self.columns, row, strict=True)) for row in chosen]

    def without(self, places: Sequence[int]) -> Self:
        """Return the table without these rows. The others keep their labels."""
        removed = set(places)
        rest = [place for place in range(len(self)) if place not in removed]
        return replace(
            self,
            labels=tuple(self.labels[place] for place in rest),
            rows=tuple(self.rows[place] for place in rest),
        )

    def appended(self, cells: Mapping[str, Any]) -> Self:
        """Return the table with a row added, labelled 0. Columns without a cell are missing."""
        row = tuple(cells.get(column, MISSING) for column in self.columns)
        return replace(self, labels=(*self.labels, 0), rows=(*self.rows, row))

    def written(self, row: Row, *, label: int) -> Self:
        """Return the table with the row of this label replaced, or added if there is none."""
        if label not in self.labels:
            return replace(self, labels=(*self.labels, label), rows=(*self.rows, row))
        pairs = zip(self.labels, self.rows, strict=True)
        return replace(self, rows=tuple(row if name == label else old for name, old in pairs))

    def renumbered(self) -> Self:
        """Return the table with rows labelled from 0."""
        return replace(self, labels=tuple(range(len(self))))

    def with_column(self, column: Any, cell: Any = MISSING) -> Self:
        """Return the table with a column that has one value in all rows."""
        rows = tuple((*row, cell) for row in self.rows)
        return replace(self, columns=(*self.columns, column), rows=rows)

    def updated(self, places: Sequence[int], column: Any, value: Any) -> Self:
        """Return the table with a value in a column of some rows. An unknown column is added.

        A list of one item stands for the item; a mapping gives each row the value of its label.

        Raises:
            ValueError: The length of a list differs from the number of rows.
        """
        table = self if self.has(column) else self.with_column(column)
        values = _spread(value, [self.labels[place] for place in places])
        if not isinstance(value, dict) and all(type(cell) is float for cell in table.cells(column)):
            values = [_as_float(item) for item in values]
        at, rows = table.columns.index(column), list(table.rows)
        for place, entry in zip(places, values, strict=True):
            rows[place] = (*rows[place][:at], entry, *rows[place][at + 1 :])
        return replace(table, rows=tuple(rows))


def is_missing(value: Any) -> bool:
    """Return whether a cell has no value: NaN or None."""
    return value is None or (isinstance(value, float) and math.isnan(value))


def _spread(value: Any, labels: Sequence[int]) -> list[Any]:
    if isinstance(value, dict):
        return [value.get(label, MISSING) for label in labels]
    if not isinstance(value, list | tuple):
        return [value] * len(labels)
    values = list(value) * len(labels) if len(value) == 1 else list(value)
    if len(values) != len(labels):
        raise ValueError(f"{len(values)} values cannot be written into {len(labels)} rows")
    return values


def _as_float(value: Any) -> Any:
    """Convert a column that has only numbers to floats."""
    whole = isinstance(value, int) and not isinstance(value, bool)
    return float(value) if whole and -_LARGEST_WHOLE <= value < _LARGEST_WHOLE else value
