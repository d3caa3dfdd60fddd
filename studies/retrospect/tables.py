"""The tables of docs/meta-team-simulated.md, of what came of arms in worlds."""

from __future__ import annotations

from statistics import fmean
from typing import TYPE_CHECKING

from ..simulated import Interval, head, row
from .outcomes import NOTES
from .rows import FULL, ROWS
from .trials import TEST
from .world import SORTS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from .outcomes import Outcome

__all__ = ["Found", "costs", "covering", "differences", "notes", "scores"]

Found = dict[str, dict[int, "Outcome"]]
"""What came of arms, by their names, by seeds."""
MEASURES: Mapping[str, Callable[[Outcome], float | None]] = {
    "score": lambda one: one.score,
    **{sort: (lambda one, sort=sort: one.on(sort)) for sort in SORTS},
    "learning": lambda one: one.learnt,
}
PAPER: Mapping[str, str] = {one.name: one.paper for one in ROWS}


def scores(found: Found) -> Iterator[str]:
    """Tell which share of parts was right in the test, and while teams evolved."""
    yield from head("arm", *MEASURES)
    for name, came in found.items():
        cells = (_interval(of(one) for one in came.values()) for of in MEASURES.values())
        yield row(name, *(one.shown(signed=False) for one in cells))


def _interval(values: Iterable[float | None]) -> Interval:
    return Interval([one for one in values if one is not None])


def differences(found: Found) -> Iterator[str]:
    """Compare arms with the full one seed by seed: the same world, and the same luck."""
    yield from head("less full", *MEASURES, "points in the paper")
    for name, came in found.items():
        if name != FULL.name:
            cells = (one.shown() for one in _less_full(found, came))
            yield row(name, *cells, PAPER.get(name) or "-")


def _less_full(found: Found, came: Mapping[int, Outcome]) -> list[Interval]:
    full = found[FULL.name]
    return [
        _interval(_less(of(one), of(full[seed])) for seed, one in came.items())
        for of in MEASURES.values()
    ]


def _less(one: float | None, full: float | None) -> float | None:
    return None if one is None or full is None else one - full


def covering(found: Found) -> Iterator[str]:
    """Tell how many intervals cover 0 where nothing has an effect."""
    yield from head("less full, cover 0", *MEASURES)
    came = [_less_full(found, one) for name, one in found.items() if name != FULL.name]
    yield row("all arms", *(_covered(one) for one in zip(*came, strict=True)))


def _covered(intervals: Sequence[Interval]) -> str:
    return f"{sum(one.covers_nothing for one in intervals)} of {len(intervals)}"


def notes(found: Found) -> Iterator[str]:
    """Tell what stands in teams at the end that was not there at first, on the mean."""
    yield from head("at the end", *NOTES, "lost")
    for name, came in found.items():
        cells = (fmean(one.notes[it] for one in came.values()) for it in NOTES)
        lost = fmean(one.lost for one in came.values())
        yield row(name, *(f"{one:.2f}" for one in (*cells, lost)))


def costs(found: Found) -> Iterator[str]:
    """Tell what an order takes: while a team evolves, and in the test."""
    columns = "calls at work", "looking back", "in the test"
    tokens = "tokens at work", "looking back", "in the test"
    yield from head("an order", *columns, *tokens, "CPU seconds")
    for name, came in found.items():
        outcomes = [*came.values()]
        calls = [fmean(_each(one, one.calls, kind) for one in outcomes) for kind in KINDS]
        spent = [fmean(_each(one, one.tokens, kind) for one in outcomes) for kind in KINDS]
        seconds = fmean(one.seconds / (len(one.learning) + len(one.test)) for one in outcomes)
        cells = *(f"{one:.1f}" for one in calls), *(f"{one:.0f}" for one in spent)
        yield row(name, *cells, f"{seconds:.3f}")


KINDS = ("work", "looking back", TEST)


def _each(one: Outcome, of: Mapping[str, int], kind: str) -> float:
    """Give what was spent on an order, for something."""
    match kind:
        case "work":
            return of.get(kind, 0) / len(one.learning)
        case "test":
            return of[kind] / len(one.test)
        case _:
            return sum(many for who, many in of.items() if who not in KINDS) / len(one.learning)
