"""Predictions as the original's runs record them, judged as its evaluator judges them."""

from __future__ import annotations

import ast
import csv
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from coterie.benchmarks.workbench.tables import NO_VALUE, load_tables
from coterie.benchmarks.workbench.tasks import FILES, reference_calls, reference_rows
from coterie.benchmarks.workbench.verdict import PredictionVerdict, verdict
from coterie.schema.values.errors import InputError
from coterie.schema.values.values import is_list

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

LARGEST_CELL = 1 << 27
"""Characters. The whole conversation of a run stands in one cell."""

_NEEDED = ("query", "function_calls", "error")


@dataclass(frozen=True, kw_only=True, slots=True)
class Judged:
    """A recorded prediction and the verdict on it.

    Attributes:
        query: The request.
        error: Why the run ended early; empty where it did not.
    """

    query: str
    error: str
    verdict: PredictionVerdict


def judge_file(path: Path, folder: Path) -> list[Judged]:
    """Judge all predictions of a file with the columns `query`, `function_calls` and `error`.

    Args:
        path: The file, CSV with a head.
        folder: The benchmark's files, as `find_folder` gives them.

    Raises:
        InputError: The file cannot be read, or holds a query that no task has.
    """
    answers = _answers(folder)
    tables = load_tables(folder)
    return [
        Judged(
            query=row["query"],
            error=row["error"],
            verdict=verdict(_calls(row, path), _answer(row, answers, path), row["error"], tables),
        )
        for row in _rows(path)
    ]


def _answers(folder: Path) -> dict[str, list[str]]:
    return {
        row["query"]: reference_calls(row, niche)
        for niche in FILES
        for row in reference_rows(folder, niche)
    }


def _answer(row: dict[str, str], answers: dict[str, list[str]], path: Path) -> list[str]:
    if row["query"] not in answers:
        raise InputError(
            f"{path}: no task of the benchmark asks {row['query'][:80]!r}. Do the predictions"
            " belong to these files?"
        )
    return answers[row["query"]]


def _rows(path: Path) -> list[dict[str, str]]:
    try:
        with path.open(encoding="utf-8", newline="") as file, _large_cells():
            rows = list(csv.DictReader(file))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise InputError(f"{path} cannot be read: {error}.") from None
    for row in rows:
        if any(not isinstance(row.get(name), str) for name in _NEEDED):
            raise InputError(f"{path}: a row has not all of the columns {', '.join(_NEEDED)}.")
    return [{**row, "error": "" if row["error"] in NO_VALUE else row["error"]} for row in rows]


@contextmanager
def _large_cells() -> Generator[None]:
    before = csv.field_size_limit(LARGEST_CELL)
    try:
        yield
    finally:
        csv.field_size_limit(before)


def _calls(row: dict[str, str], path: Path) -> list[str]:
    try:
        calls = ast.literal_eval(row["function_calls"])
    except (SyntaxError, ValueError, MemoryError, RecursionError) as error:
        calls = error
    if not is_list(calls) or not all(isinstance(call, str) for call in calls):
        raise InputError(f"{path}: function_calls of {row['query'][:80]!r} is no list of texts.")
    return calls
