"""The tables of docs/adaptation.md, of what came of trials."""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING

from ..simulated import Interval, units

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from .trials import Outcome

__all__ = ["Found", "covering", "differences", "paces", "values"]

Found = dict[str, dict[str, list["Outcome"]]]
"""What came of trials, by their names, by landscapes, by seeds."""
MEASURES = ("answer", "worth")
"""What is told with intervals, and compared."""
MEANS = ("first", "last")
COUNTS = ("rounds", "agents", "edges")


def values(found: Found) -> Iterator[str]:
    """Tell how well ways to adapt did."""
    columns = (*MEASURES, *MEANS, *COUNTS, "calls")
    yield f"| | {' | '.join(columns)} |"
    yield "|---" * (len(columns) + 1) + "|"
    for name, worlds in found.items():
        measured = (Interval(_of(worlds, one)).shown(signed=False) for one in MEASURES)
        means = (f"{statistics.fmean(_of(worlds, one)):.3f}" for one in MEANS)
        counts = (f"{statistics.fmean(_of(worlds, one)):.1f}" for one in COUNTS)
        calls = f"{statistics.fmean(_of(worlds, 'calls')):.0f}"
        yield f"| {name} | {' | '.join((*measured, *means, *counts))} | {calls} |"


def differences(found: Found, reference: str) -> Iterator[str]:
    """Compare ways landscape by landscape: the same tasks, and the same chance."""
    yield f"| difference | {' | '.join(MEASURES)} |"
    yield "|---" * (len(MEASURES) + 1) + "|"
    for name in found:
        if name != reference:
            cells = (_between(found, name, reference, one).shown() for one in MEASURES)
            yield f"| {name} - {reference} | {' | '.join(cells)} |"


def paces(
    found: Found, names: Sequence[str], reference: str, losses: Mapping[str, float]
) -> Iterator[str]:
    """Compare paces of change in the half of the landscapes where less is lost, and in the other.

    Args:
        found: What came of trials.
        names: The rows.
        reference: The row that they are compared with.
        losses: The share that is lost among other neighbours, by landscape.
    """
    ranked = sorted(found[reference], key=lambda one: losses[one])
    halves = ranked[: len(ranked) // 2], ranked[len(ranked) // 2 :]
    bounds = (f"loss {losses[one[0]]:.2f} to {losses[one[-1]]:.2f}" for one in halves)
    yield f"| difference of {MEASURES[0]} | {' | '.join(bounds)} |"
    yield "|---|---|---|"
    for name in names:
        cells = (
            _between({row: _among(found[row], half) for row in found}, name, reference, MEASURES[0])
            for half in halves
        )
        yield f"| {name} - {reference} | {' | '.join(one.shown() for one in cells)} |"


def covering(found: Found, reference: str) -> str:
    """Say how many of the intervals of differences of answers cover 0."""
    intervals = [
        _between(found, name, reference, MEASURES[0]) for name in found if name != reference
    ]
    covered = sum(one.covers_nothing for one in intervals)
    return f"{covered} of {len(intervals)} intervals of differences of answers cover 0."


def _among(worlds: Mapping[str, list[Outcome]], names: Sequence[str]) -> dict[str, list[Outcome]]:
    return {one: worlds[one] for one in names}


def _between(found: Found, name: str, reference: str, field: str) -> Interval:
    pairs = zip(_of(found[name], field), _of(found[reference], field), strict=True)
    return Interval([one - other for one, other in pairs])


def _of(worlds: Mapping[str, Sequence[Outcome]], field: str) -> list[float]:
    return units(worlds, lambda one: getattr(one, field))
