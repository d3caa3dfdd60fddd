"""Figures of an arena: scores, costs, and comparisons with the baseline.

A pair is a test task with a seed. So the interval of a difference is about the teams that these
seeds led to. Whether the method would do it again, the cells show: their mean differences have an
interval of their own, by Student's t. A difference is claimed where both say so.
"""

from __future__ import annotations

import math
import statistics
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ...pool.values.intervals import mean_interval, paired_interval
from ...pool.values.student import t_interval
from ...runtime.values.usage import Usage
from ..comparison.comparing import Comparison, p_adjusted
from ..evaluation.statistics import rounded

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from .cells import Cell, Outcome

LEVEL = 0.05
POWER = 0.8
EVERY = "all"
"""What the table calls all streams together."""
UNITS = ("calls", "tokens", "usd")
Pair = tuple[str, int, str]
"""A stream, a seed, and a task's id."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Row:
    """A method on a stream, or on all of them.

    Attributes:
        method: The method's name.
        stream: The stream's name, or `EVERY`.
        cells: All its cells.
        done: The outcomes of those that were tested.
    """

    method: str
    stream: str
    cells: Sequence[Cell]
    done: Mapping[tuple[str, int], Outcome]

    def scores(self, *, control: bool = False) -> dict[Pair, Sequence[float]]:
        """Return the scores of each pair."""
        return {
            (*place, task): scores
            for place, outcome in self.done.items()
            for task, scores in (outcome.control if control else outcome.scores).items()
        }

    def value(self) -> dict[str, Any]:
        """Return the row as a JSON object, without what takes the baseline."""
        own, control = self.scores(), self.scores(control=True)
        gains = _differences(control, own)
        outcomes = [*self.done.values()]
        return {
            "method": self.method,
            "stream": self.stream,
            "cells": len(self.cells),
            "done": len(outcomes),
            "pairs": len(own),
            "score": _mean([*map(statistics.fmean, own.values())]),
            "interval": [*mean_interval([*own.values()])] if own else None,
            "gain": _mean(gains),
            "gain_interval": [*paired_interval(gains)] if gains else None,
            "area": _mean([area(outcome) for outcome in outcomes if outcome.scores]),
            **_spending(self.cells),
            "dropped": sum(outcome.dropped for outcome in outcomes),
            "failed": sum(outcome.failed for outcome in outcomes),
            "unscored": sum(outcome.unscored for outcome in outcomes),
        }


def arena_value(cells: Sequence[Cell]) -> dict[str, Any]:
    """Return the figures of all cells as a JSON object."""
    rows = [*_rows(cells)]
    baseline = rows[0].method
    bases = {row.stream: row for row in rows if row.method == baseline}
    met = [(row, _comparison(bases[row.stream], row)) for row in rows if row.method != baseline]
    known = [(row, comparison) for row, comparison in met if comparison is not None]
    values = {id(row): row.value() for row in rows}
    adjusted = p_adjusted([comparison for _, comparison in known])
    for (row, comparison), p in zip(known, adjusted, strict=True):
        apart = _apart(bases[row.stream], row)
        values[id(row)]["versus"] = _versus(comparison, p, apart, len(known))
    done = [cell for cell in cells if cell.is_done]
    spent = [_cell(cell) for cell in done]
    return rounded(
        {
            "arena": 1,
            "baseline": baseline,
            "comparisons": len(known),
            "rows": [*values.values()],
            "cells": spent,
            "open": [str(cell) for cell in cells if cell not in done],
        }
    )


def area(outcome: Outcome) -> float:
    """Return the mean score over the cap: the control's until the result was there."""
    before, after = _of(outcome.control or outcome.scores), _of(outcome.scores)
    return outcome.begun * before + (1 - outcome.begun) * after


def least_effect(differences: Sequence[float], comparisons: int) -> float | None:
    """Return the difference that would have been seen with a chance of 0.8, had it been there.

    Args:
        differences: What was gained on each pair.
        comparisons: How many comparisons share the level of 0.05.
    """
    if len(differences) < 2:
        return None
    normal = statistics.NormalDist()
    reach = normal.inv_cdf(1 - LEVEL / (2 * comparisons)) + normal.inv_cdf(POWER)
    # A pair that either side wins is added, as by `paired_interval`: so it is never 0.
    n, squares = len(differences) + 2, sum(item**2 for item in differences) + 2
    return reach * math.sqrt(squares / n - (sum(differences) / n) ** 2) / math.sqrt(n)


def _rows(cells: Sequence[Cell]) -> Iterator[Row]:
    streams = [*dict.fromkeys(cell.stream for cell in cells)]
    for stream in [*streams, *([EVERY] if len(streams) > 1 else [])]:
        for method in dict.fromkeys(cell.method.name for cell in cells):
            own = [
                cell
                for cell in cells
                if cell.method.name == method and stream in {cell.stream, EVERY}
            ]
            done = {(cell.stream, cell.seed): cell.outcome for cell in own if cell.is_done}
            yield Row(method=method, stream=stream, cells=own, done=done)


def _comparison(base: Row, row: Row) -> Comparison | None:
    """Compare two rows on the pairs that both have; None, where there is none."""
    before, after = base.scores(), row.scores()
    common = [pair for pair in before if pair in after]
    if not common:
        return None
    sides = [[statistics.fmean(side[pair]) for pair in common] for side in (before, after)]
    return Comparison(
        names=(base.method, row.method),
        before=sides[0],
        after=sides[1],
        single=all(len(side[pair]) == 1 for side in (before, after) for pair in common),
        left_out=len(before.keys() ^ after.keys()),
        costs=("", ""),
    )


def _apart(base: Row, row: Row) -> Sequence[float]:
    """Return the mean difference of each cell that both rows have."""
    places = [place for place in base.done if place in row.done]
    found = (_differences(base.done[at].scores, row.done[at].scores) for at in places)
    return [statistics.fmean(each) for each in found if each]


def _versus(
    comparison: Comparison, p: float | None, cells: Sequence[float], comparisons: int
) -> dict[str, Any]:
    value = comparison.value()
    over_cells = t_interval(cells)
    names = ("difference", "interval", "better", "worse", "same", "decides", "effects", "left_out")
    pairs = zip(comparison.before, comparison.after, strict=True)
    return {
        **{name: value[name] for name in names},
        "p": value["p"][value["decides"]],
        "p_holm": p,
        "cells": [*cells],
        "cells_interval": over_cells and [*over_cells],
        "least_effect": least_effect([new - old for old, new in pairs], comparisons),
        "claim": _claim(p, value["difference"], over_cells),
    }


def _claim(p: float | None, difference: float, over_cells: tuple[float, float] | None) -> str:
    """Return what the data show: `better`, `worse`, or nothing."""
    if p is None or p >= LEVEL or over_cells is None or over_cells[0] <= 0 <= over_cells[1]:
        return ""
    return "better" if difference > 0 else "worse"


def _cell(cell: Cell) -> dict[str, Any]:
    outcome = cell.outcome
    return {
        "method": cell.method.name,
        "stream": cell.stream,
        "seed": cell.seed,
        "folder": str(cell.pool.relative_to(cell.pool.parents[3])),
        "deployed": outcome.deployed,
        "score": _mean([*map(statistics.fmean, outcome.scores.values())]),
        "control": _mean([*map(statistics.fmean, outcome.control.values())]),
        "begun": outcome.begun,
        **_spending([cell]),
    }


def _differences(before: Mapping[Any, Any], after: Mapping[Any, Any]) -> list[float]:
    common = [key for key in before if key in after]
    return [statistics.fmean(after[key]) - statistics.fmean(before[key]) for key in common]


def _of(scores: Mapping[str, Sequence[float]]) -> float:
    return statistics.fmean(map(statistics.fmean, scores.values()))


def _mean(values: Sequence[float]) -> float | None:
    return statistics.fmean(values) if values else None


def _spending(cells: Sequence[Cell]) -> dict[str, Any]:
    return {
        "learning": _spent([cell.spending[0] for cell in cells]),
        "testing": _spent([cell.spending[1] for cell in cells]),
    }


def _spent(usages: Sequence[Usage]) -> dict[str, Any]:
    usage = sum(usages, Usage())
    counts = {unit: getattr(usage, unit) for unit in UNITS}
    return {**counts, "unpriced_calls": usage.unpriced_calls, "lost_calls": usage.uncertain_calls}
