"""The table of an arena, and its files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ...schema.values.files import make_folders, write_atomically
from ...schema.values.json_text import dumps
from ...schema.values.terminal import counted
from ..comparison.tables import written

ARENA = "arena.json"


def write_files(folder: Path, value: Mapping[str, Any]) -> None:
    """Write arena.json, table.md and table.csv."""
    rows = table(value)
    make_folders(folder)
    write_atomically(folder / ARENA, dumps(value, indent=2, ensure_ascii=False) + "\n")
    write_atomically(folder / "table.md", written(rows, "markdown") + "\n")
    write_atomically(folder / "table.csv", written(rows, "csv") + "\n")


def table(value: Mapping[str, Any]) -> list[dict[str, str]]:
    """Return the rows of the table, as in arena.json."""
    return [_row(row, value["baseline"]) for row in value["rows"]]


def cells_table(value: Mapping[str, Any]) -> list[dict[str, str]]:
    """Return a row for each tested cell."""
    return [
        {
            "cell": f"{cell['method']}, {cell['stream']}, seed {cell['seed']}",
            "deployed": cell["deployed"],
            **{name: _number(cell[name], "{:.3f}") for name in ("score", "control")},
            **{part: _cost(cell[part]) for part in ("learning", "testing")},
        }
        for cell in value["cells"]
    ]


def _row(row: Mapping[str, Any], baseline: str) -> dict[str, str]:
    return {
        "method": row["method"],
        "stream": row["stream"],
        "cells": f"{row['done']} of {row['cells']}",
        "score": _with_interval(row["score"], row["interval"], "{:.3f}"),
        **_compared(row.get("versus"), baseline),
        "gain over its control": _with_interval(row["gain"], row["gain_interval"], "{:+.3f}"),
        "area": _number(row["area"], "{:.3f}"),
        **{part: _cost(row[part]) for part in ("learning", "testing")},
        **{name: str(row[name]) for name in ("dropped", "failed", "unscored")},
    }


def _compared(versus: Mapping[str, Any] | None, baseline: str) -> dict[str, str]:
    """Return the columns of the comparison with the baseline; empty in its own row."""
    if versus is None:
        names = (f"over {baseline}", "over cells", "effect", "p (Holm)", "detectable", "claim")
        return dict.fromkeys(names, "")
    cells = versus["cells_interval"]
    effect = versus["effects"]["cohens_h"]
    return {
        f"over {baseline}": _with_interval(versus["difference"], versus["interval"], "{:+.3f}"),
        "over cells": "[{:+.3f}, {:+.3f}]".format(*cells) if cells else "",
        "effect": _number(effect, "h {:+.2f}"),
        "p (Holm)": _number(versus["p_holm"], "{:.3g}"),
        "detectable": _number(versus["least_effect"], "{:.3f}"),
        "claim": versus["claim"],
    }


def _cost(spent: Mapping[str, Any]) -> str:
    unpriced = spent["unpriced_calls"]
    price = "unpriced" if unpriced == spent["calls"] > 0 else f"${spent['usd']:.4f}"
    price += f" + {unpriced} unpriced" if 0 < unpriced < spent["calls"] else ""
    return f"{counted(spent['calls'], 'call')}, {counted(spent['tokens'], 'token')}, {price}"


def _with_interval(value: float | None, interval: Sequence[float] | None, form: str) -> str:
    if value is None or interval is None:
        return ""
    low, high = (form.format(end) for end in interval)
    return f"{form.format(value)} [{low}, {high}]"


def _number(value: float | None, form: str) -> str:
    return "" if value is None else form.format(value)
