"""Figures of an arena: scores, costs, and comparisons with the baseline.

A pair is a test task with a seed. So the interval of a difference is about the teams that these
seeds produced. The cells show whether the method would do it again: their mean differences have an
interval of their own, by Student's t. A difference is claimed only if both intervals agree.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist, fmean
from typing import TYPE_CHECKING, Any

from ...pool.values.intervals import mean_interval, paired_interval
from ...pool.values.student import t_interval
from ...runtime.values.usage import Usage
from ..comparison.comparing import Comparison, p_adjusted
from ..evaluation.statistics import rounded

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from .cells import Cell, CellOutcome

    Scores = Mapping[Any, Sequence[float]]

LEVEL = 0.05
POWER = 0.8
EVERY = "all"
"""The table's name of all streams together."""
FIGURES = ("difference", "interval", "better", "worse", "same", "decides", "effects", "left_out")


@dataclass(frozen=True, kw_only=True, slots=True)
class Row:
    """A method on a stream, or on all of them.

    Attributes:
        stream: The stream's name, or `EVERY`.
        outcomes: The outcomes of tested cells, by stream and seed.
    """

    method: str
    stream: str
    cells: Sequence[Cell]
    outcomes: Mapping[tuple[str, int], CellOutcome]

    @property
    def scores(self) -> Scores:
        """The scores of each pair."""
        return {
            (place, task): scores
            for place, outcome in self.outcomes.items()
            for task, scores in outcome.scores.items()
        }

    def value(self) -> dict[str, Any]:
        """Return the row as a JSON object, without comparisons with the baseline."""
        own, outcomes = self.scores, [*self.outcomes.values()]
        gains = [gain for each in outcomes for gain in differences(each.control, each.scores)]
        counts = ("dropped", "failed", "unscored")
        return {
            "method": self.method,
            "stream": self.stream,
            "cells": len(self.cells),
            "done": len(outcomes),
            "pairs": len(own),
            "score": _score(own),
            "interval": [*mean_interval([*own.values()])] if own else None,
            "gain": fmean(gains) if gains else None,
            "gain_interval": [*paired_interval(gains)] if gains else None,
            "area": fmean(map(area, outcomes)) if own else None,
            **_spending(self.cells),
            **{name: sum(getattr(each, name) for each in outcomes) for name in counts},
        }


def arena_value(cells: Sequence[Cell]) -> dict[str, Any]:
    """Return the figures of all cells as a JSON object."""
    tested_cells = [cell for cell in cells if cell.is_done]
    rows = [*_rows(cells, tested_cells)]
    baseline = rows[0].method
    bases = {row.stream: row for row in rows if row.method == baseline}
    values = [rounded(row.value()) for row in rows]
    met = {
        number: compared(bases[row.stream], row)
        for number, row in enumerate(rows)
        if row.method != baseline and row.scores.keys() & bases[row.stream].scores.keys()
    }
    for (number, comparison), p in zip(met.items(), p_adjusted([*met.values()]), strict=True):
        base, row = bases[rows[number].stream], rows[number]
        by_cell = [fmean(each) for each in _by_cell(base, row) if each]
        values[number]["versus"] = _versus(comparison, p, by_cell, len(met))
    return {
        "arena": 1,
        "baseline": baseline,
        "comparisons": len(met),
        "rows": values,
        "cells": [rounded(_cell(cell)) for cell in tested_cells],
        "open": [str(cell) for cell in cells if cell not in tested_cells],
    }


def compared(base: Row, row: Row) -> Comparison:
    """Compare two rows on their common pairs."""
    before, after = base.scores, row.scores
    common = [pair for pair in before if pair in after]
    return Comparison(
        names=(base.method, row.method),
        before=[fmean(before[pair]) for pair in common],
        after=[fmean(after[pair]) for pair in common],
        single=all(len(side[pair]) == 1 for side in (before, after) for pair in common),
        left_out=len(before.keys() ^ after.keys()),
        costs=("", ""),
    )


def area(outcome: CellOutcome) -> float:
    """Return the mean score over the cap: the control's until the result was available."""
    before, after = _score(outcome.control) or 0.0, _score(outcome.scores) or 0.0
    return outcome.begun * before + (1 - outcome.begun) * after


def least_effect(gains: Sequence[float], comparisons: int) -> float:
    """Return the smallest true difference that would be detected with probability 0.8.

    Args:
        comparisons: The number of comparisons that share the level of 0.05.
    """
    normal = NormalDist()
    reach = normal.inv_cdf(1 - LEVEL / (2 * comparisons)) + normal.inv_cdf(POWER)
    # One pair won by each side is added, as in `paired_interval`, so it is never 0.
    n, squares = len(gains) + 2, sum(gain**2 for gain in gains) + 2
    return reach * math.sqrt((squares / n - (sum(gains) / n) ** 2) / n)


def differences(before: Scores, after: Scores) -> list[float]:
    """Return the second side's score minus the first's, of each common key."""
    return [fmean(after[key]) - fmean(before[key]) for key in before if key in after]


def _rows(cells: Sequence[Cell], tested_cells: Sequence[Cell]) -> Iterator[Row]:
    streams = [*dict.fromkeys(cell.stream for cell in cells)]
    for stream in [*streams, *([EVERY] if len(streams) > 1 else [])]:
        for method in dict.fromkeys(cell.method.name for cell in cells):
            own = [
                cell
                for cell in cells
                if cell.method.name == method and stream in {cell.stream, EVERY}
            ]
            outcomes = {
                (cell.stream, cell.seed): cell.outcome for cell in own if cell in tested_cells
            }
            yield Row(method=method, stream=stream, cells=own, outcomes=outcomes)


def _by_cell(base: Row, row: Row) -> Iterator[list[float]]:
    for place, outcome in base.outcomes.items():
        if place in row.outcomes:
            yield differences(outcome.scores, row.outcomes[place].scores)


def _versus(
    comparison: Comparison, p: float | None, by_cell: Sequence[float], comparisons: int
) -> dict[str, Any]:
    value, over_cells = comparison.value(), t_interval(by_cell)
    pairs = zip(comparison.before, comparison.after, strict=True)
    figures = {
        **{name: value[name] for name in FIGURES},
        "cells": [*by_cell],
        "cells_interval": over_cells and [*over_cells],
        "least_effect": least_effect([new - old for old, new in pairs], comparisons),
        "claim": claim(p, value["difference"], over_cells),
    }
    return {**rounded(figures), "p": value["p"][value["decides"]], "p_holm": p}


def claim(p: float | None, difference: float, over_cells: tuple[float, float] | None) -> str:
    """Return the conclusion from the data: `better`, `worse`, or nothing."""
    if p is None or p >= LEVEL or over_cells is None or over_cells[0] <= 0 <= over_cells[1]:
        return ""
    return "better" if difference > 0 else "worse"


def _cell(cell: Cell) -> dict[str, Any]:
    outcome = cell.outcome
    return {
        "method": cell.method.name,
        "stream": cell.stream,
        "seed": cell.seed,
        "folder": cell.pool.relative_to(cell.pool.parents[3]).as_posix(),
        "deployed": outcome.deployed,
        "score": _score(outcome.scores),
        "control": _score(outcome.control),
        "begun": outcome.begun,
        **_spending([cell]),
    }


def _score(scores: Scores) -> float | None:
    return fmean(map(fmean, scores.values())) if scores else None


def _spending(cells: Sequence[Cell]) -> dict[str, Any]:
    learning = sum((cell.spending[0] for cell in cells), Usage())
    testing = sum((cell.spending[1] for cell in cells), Usage())
    return {"learning": _spent(learning), "testing": _spent(testing)}


def _spent(usage: Usage) -> dict[str, Any]:
    counts = ("calls", "tokens", "usd", "unpriced_calls", "uncertain_calls")
    return {name: getattr(usage, name) for name in counts}
