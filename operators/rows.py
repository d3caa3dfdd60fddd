"""The turns of an evolution as rows of a table, for whoever draws curves of them."""

from __future__ import annotations

import csv
from io import StringIO
from typing import TYPE_CHECKING, Any

from ..pool.ledger import Ledger
from ..runtime.usage import Usage
from ..schema.files import write_atomically
from .folder import EVOLUTIONS, TURNS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

__all__ = ["COLUMNS", "rows", "write_csv"]

PURPOSES = ("teams", "operators", "judge")
COLUMNS = (
    "number",
    "task",
    "niche",
    "candidates",
    "dropped",
    "executed",
    "best",
    "team",
    "new",
    "score",
    "scored_by",
    "reward",
    "verdict",
    "first",
    "operator",
    "component",
    "pool",
    *(f"{purpose}_{unit}" for purpose in PURPOSES for unit in ("calls", "tokens", "usd")),
)
"""The columns: `pool` is the number of teams that were not retired after the turn, `best` the
place of the best candidate among those that were tried, from 0. Empty USD: a price is unknown."""


def rows(pool: Path, name: str) -> Iterator[dict[str, Any]]:
    """Give a row for each turn of an evolution, in order.

    Args:
        pool: The pool's folder.
        name: The evolution's name.

    Raises:
        StorageError: A file is damaged.
    """
    for number, entry in enumerate(Ledger(pool / EVOLUTIONS / name / TURNS).read()):
        turn, tried = entry.value, entry.value["candidates"]
        best = tried[turn["best"]]
        spent = (
            sum((Usage(**one["usage"]) for one in tried), Usage()),
            Usage(**turn["operators"]),
            Usage(**turn["judging"]),
        )
        yield {
            "number": number,
            **{key: turn[key] for key in ("task", "niche", "best", "team", "new", "pool", "score")},
            **{key: turn[key] for key in ("scored_by", "reward", "verdict", "first")},
            "candidates": len(tried),
            "dropped": len(turn["dropped"]),
            "executed": sum(one["executed"] for one in tried),
            "operator": best["operator"],
            "component": best["component"],
            **_costs(spent),
        }


def write_csv(path: Path, found: Sequence[Mapping[str, Any]]) -> None:
    """Write rows as CSV, a line each after that of the columns.

    Raises:
        StorageError: It cannot be written.
    """
    text = StringIO()
    more = [key for key in (found[0] if found else {}) if key not in COLUMNS]
    table = csv.DictWriter(text, [*more, *COLUMNS], lineterminator="\n")
    table.writeheader()
    table.writerows(found)
    write_atomically(path, text.getvalue())


def _costs(spent: tuple[Usage, Usage, Usage]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for purpose, usage in zip(PURPOSES, spent, strict=True):
        found[f"{purpose}_calls"] = usage.calls
        found[f"{purpose}_tokens"] = usage.tokens
        found[f"{purpose}_usd"] = None if usage.unpriced_calls else round(usage.usd, 9)
    return found
