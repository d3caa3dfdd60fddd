"""The original verdict: it compares the resulting states, not the calls."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import starmap
from typing import Any

from .calls import do_calls
from .domains import OPERATIONS
from .operation import Workplace
from .table import MISSING, Row, Table, is_missing
from .tables import Tables

CASED = frozenset({"board", "list_name", "status"})
"""The case-sensitive columns."""

_CHANGING = frozenset(name for name, operation in OPERATIONS.items() if operation.changes)


@dataclass(frozen=True, kw_only=True, slots=True)
class PredictionVerdict:
    """The original's verdict on a prediction.

    Attributes:
        correct: Its calls lead to the reference's state, ignoring case, without an error. The
            benchmark's accuracy is the share of correct predictions.
        side_effects: Its calls changed something and lead elsewhere, with or without an error.
        exact_match: Its changing calls equal the reference's as text, ignoring case and order. This
            does not count in the accuracy.
    """

    correct: bool
    side_effects: bool
    exact_match: bool


def verdict(
    predicted_calls: Sequence[str], gold_calls: Sequence[str], error: object, tables: Tables
) -> PredictionVerdict:
    """Compare predicted calls with the reference's.

    Args:
        predicted_calls: Calls as text, in order. Failing ones are skipped.
        error: Why the run of the prediction ended early. Any non-empty text makes the prediction
            incorrect; None and NaN, which readers of tables produce, do not.
        tables: The initial state of both.
    """
    predicted, gold = _after(predicted_calls, tables), _after(gold_calls, tables)
    pairs = zip(predicted.compared, gold.compared, strict=True)
    right = all(_same(*pair, ignore_case=True) for pair in pairs)
    untouched = all(starmap(_same, zip(predicted.compared, tables.compared, strict=True)))
    return PredictionVerdict(
        correct=right and not (isinstance(error, str) and error),
        side_effects=not right and not untouched,
        exact_match=_exact_match(predicted_calls, gold_calls),
    )


def _after(calls: Sequence[str], tables: Tables) -> Tables:
    workplace = Workplace(tables)
    do_calls(workplace, calls)
    return workplace.tables


def _exact_match(predicted: Sequence[str], gold: Sequence[str]) -> bool:
    chosen = [
        name for name in predicted if ".".join(name.split("(")[0].split(".")[:2]) in _CHANGING
    ]
    return _sorted_lower(chosen) == _sorted_lower(gold)


def _sorted_lower(calls: Sequence[str]) -> list[str]:
    return sorted(call.replace("\n", "\\n").lower() for call in calls)


def _same(first: Table, second: Table, *, ignore_case: bool = False) -> bool:
    if first is second:
        return True
    if first.columns != second.columns or first.labels != second.labels:
        return False
    cased = [not ignore_case or column in CASED for column in first.columns]
    return all(
        row is second_row or _equal_rows(row, second_row, cased)
        for row, second_row in zip(first.rows, second.rows, strict=True)
    )


def _equal_rows(first: Row, second: Row, cased: Sequence[bool]) -> bool:
    return all(
        _equal(first_item, second_item)
        if case_counts
        else _equal(_lower(first_item), _lower(second_item))
        for first_item, second_item, case_counts in zip(first, second, cased, strict=True)
    )


def _equal(first: Any, second: Any) -> bool:
    return first is second or first == second or (is_missing(first) and is_missing(second))


def _lower(cell: Any) -> Any:
    """Lower the case of a text; any other value counts as missing: 30 equals 60, but not "30"."""
    return cell.lower() if isinstance(cell, str | bytes) else MISSING
