"""The files of tasks as they are published: what is asked, and the calls that do it."""

from __future__ import annotations

import ast
import csv
from collections.abc import Iterator, Sequence
from pathlib import Path

from ...schema.values.errors import InputError
from ...schema.values.values import is_list
from .tables import SOURCE

FILES = {
    "analytics": "analytics",
    "calendar": "calendar",
    "crm": "customer_relationship_manager",
    "email": "email",
    "multi_domain": "multi_domain",
    "project_management": "project_management",
}
"""The niches in order, and the name that each has in its file's."""


def reference_rows(folder: Path, niche: str) -> Sequence[dict[str, str]]:
    """Read the file of a niche: `query`, `answer` and `domains` of each of its tasks.

    Raises:
        InputError: It cannot be read, or is not as expected.
    """
    name = f"{FILES[niche]}_queries_and_answers.csv"
    path = folder / "data" / "processed" / "queries_and_answers" / name
    try:
        with path.open(encoding="utf-8", newline="") as file:
            rows = list(_checked(csv.DictReader(file), path))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise InputError(f"{path} cannot be read: {error}. To get it, {SOURCE}.") from None
    return rows


def _checked(rows: csv.DictReader[str], path: Path) -> Iterator[dict[str, str]]:
    for row in rows:
        if missing := {"query", "answer", "domains"} - {k for k, text in row.items() if text}:
            raise InputError(f"{path}: a row has no {', '.join(sorted(missing))}. {SOURCE}.")
        yield row


def reference_calls(row: dict[str, str], niche: str) -> list[str]:
    """Return the reference's calls of a row of `reference_rows`."""
    return literal_list(row["answer"], niche)


def literal_list(text: str, niche: str) -> list[str]:
    """Read a list of texts as Python writes it.

    Raises:
        InputError: It is none.
    """
    try:
        result = ast.literal_eval(text)
    except (SyntaxError, ValueError) as error:
        raise InputError(f"the tasks of {niche} hold {text[:80]!r}, no list: {error}.") from None
    if not is_list(result) or not all(isinstance(item, str) for item in result):
        raise InputError(f"the tasks of {niche} hold {text[:80]!r}, which is no list of texts.")
    return result
