"""The episodes of an evolution as rows of a table, for plotting."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from io import StringIO
from pathlib import Path
from typing import Any

from ...runtime.values.usage import Usage
from ...schema.values.files import write_atomically
from ..evolution.folder import EVOLUTIONS
from ..evolution.lines import best_of, candidates_of, lines_in, runs_of, saved_of, usage_of

PURPOSES = ("teams", "operators", "judge", "saved")
COPIED = ("task", "niche", "best", "team", "new", "pool")
SCORED = ("score", "scored_by", "reward", "verdict", "first")
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
"""The columns: `pool` is the number of active teams after the episode, `best` the place of the best
candidate, from 0. `saved` is the usage that children saved by their parents' answers. Empty USD:
a price is unknown. A strategy's own figures come before these columns."""


def rows(pool: Path, name: str) -> Iterator[dict[str, Any]]:
    """Yield a row for each episode of an evolution, in order."""
    for number, line in enumerate(lines_in(pool / EVOLUTIONS / name)):
        candidates = candidates_of(line)
        best = best_of(line) or {}
        spent = (
            usage_of(line),
            Usage(**line["operators"]),
            Usage(**line["judging"]),
            saved_of(line),
        )
        yield {
            "number": number,
            **{key: line.get(key) for key in (*COPIED, *SCORED)},
            "candidates": runs_of(line),
            "dropped": len(line["dropped"]),
            "executed": sum(fields["executed"] for fields in candidates)
            if candidates
            else int(line["executed"]),
            "operator": best.get("operator"),
            "component": best.get("component"),
            **_costs(spent),
            **line.get("told", {}),
        }


def write_csv(path: Path, records: Sequence[Mapping[str, Any]]) -> None:
    """Write rows as CSV, after a line of column names."""
    text = StringIO()
    more = [
        key for key in dict.fromkeys(key for row in records for key in row) if key not in COLUMNS
    ]
    table = csv.DictWriter(text, [*more, *COLUMNS], lineterminator="\n")
    table.writeheader()
    table.writerows(records)
    write_atomically(path, text.getvalue())


def _costs(spent: tuple[Usage, ...]) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    for purpose, usage in zip(PURPOSES, spent, strict=True):
        fields[f"{purpose}_calls"] = usage.calls
        fields[f"{purpose}_tokens"] = usage.tokens
        fields[f"{purpose}_usd"] = None if usage.unpriced_calls else round(usage.usd, 9)
    return fields
