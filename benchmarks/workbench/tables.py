"""The workplace of the benchmark's files: five tables, and tables that tools only read."""

from __future__ import annotations

import csv
import functools
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...schema.values.errors import InputError
from .table import MISSING, Row, Table

SOURCE = (
    "clone https://github.com/olly-styles/WorkBench and name the clone with --data; its folder"
    " data/ is all that is used"
)

NO_VALUE = frozenset(
    {
        *("", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND"),
        *("1.#QNAN", "<NA>", "N/A", "NA", "NULL", "NaN", "None", "n/a", "nan", "null"),
    }
)
"""Texts for missing values in the original's files."""

_PROCESSED = Path("data", "processed")


@dataclass(frozen=True, kw_only=True, slots=True)
class Tables:
    """A state of the workplace.

    Attributes:
        plots: The plotted files; initially none.
        visits: The visits of a website. Tools read them, and no verdict compares them.
    """

    events: Table
    emails: Table
    plots: Table
    tasks: Table
    customers: Table
    visits: Table
    directory: tuple[str, ...]

    @property
    def compared(self) -> tuple[Table, ...]:
        """The five tables that verdicts compare."""
        return self.events, self.emails, self.plots, self.tasks, self.customers


def find_folder(folder: Path | None) -> Path:
    """Return the benchmark's files: in a folder, in `workbench` below it, or in a checkout.

    Returns:
        The folder that holds `data/processed`.

    Raises:
        InputError: They are missing.
    """
    if folder is None:
        raise InputError(f"WorkBench needs its files: {SOURCE}.")
    places = [folder, folder / "workbench", folder / "WorkBench", folder.parent]
    for place in places:
        if (place / _PROCESSED / "calendar_events.csv").is_file():
            return place.resolve()
    raise InputError(
        f"{str(folder)!r} does not contain WorkBench's files: {_PROCESSED}/calendar_events.csv is"
        f" neither there nor in its folder workbench. To get them, {SOURCE}."
    )


@functools.lru_cache(maxsize=8)
def load_tables(folder: Path) -> Tables:
    """Read the initial state of the workplace, once per folder of `find_folder`.

    Raises:
        InputError: A file is missing, or has an unexpected form.
    """
    visits = _read(folder, "analytics_data")
    engaged = visits.columns.index("user_engaged")
    marked = [(*row[:engaged], row[engaged] == "True", *row[engaged + 1 :]) for row in visits.rows]
    return Tables(
        events=_read(folder, "calendar_events"),
        emails=_read(folder, "emails"),
        plots=Table.of(["file_path"], []),
        tasks=_read(folder, "project_tasks"),
        customers=_read(folder, "customer_relationship_manager_data"),
        visits=Table.of(visits.columns, marked),
        directory=tuple(row[0] for row in _lines(folder / "data" / "raw" / "email_addresses.csv")),
    )


def _read(folder: Path, name: str) -> Table:
    path = folder / _PROCESSED / f"{name}.csv"
    columns, *rows = _lines(path)
    if any(len(row) != len(columns) for row in rows):
        raise InputError(
            f"{path}: some rows do not have {len(columns)} cells. Fetch the file again."
        )
    return Table.of(columns, (tuple(_cell(text) for text in row) for row in rows))


def _lines(path: Path) -> list[Row]:
    try:
        with path.open(encoding="utf-8", newline="") as file:
            lines = list(_filled(csv.reader(file)))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise InputError(
            f"{path} cannot be read: {error}. To get WorkBench's files, {SOURCE}."
        ) from None
    if not lines:
        raise InputError(f"{path} is empty. To get WorkBench's files, {SOURCE}.")
    return lines


def _filled(lines: Iterator[list[str]]) -> Iterator[Row]:
    return (tuple(line) for line in lines if line)


def _cell(text: str) -> Any:
    return MISSING if text in NO_VALUE else text
