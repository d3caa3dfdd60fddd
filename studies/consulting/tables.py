"""The tables of docs/consulting.md, of what came of trials."""

from __future__ import annotations

import random
from statistics import fmean
from typing import TYPE_CHECKING

from coterie.benchmarks.evaluation.statistics import rank_correlation

from ..simulated import Interval, head, row
from .landscapes import AGENTS, KINDS
from .rows import NOTHING
from .sampling import ORDERS
from .world import by_leaving_out, by_shapley

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from .landscapes import Landscape
    from .trials import Credit, Outcome

    Said = Mapping[str, float]
    """A number for each specialist, by its id."""

__all__ = [
    "Found",
    "correlations",
    "costs",
    "covering",
    "differences",
    "held_out",
    "kept",
    "said_of_kinds",
]

Found = dict[str, dict[str, "Outcome"]]
"""What came of trials, by their names, by landscapes."""
Worlds = dict[str, "Landscape"]
"""The landscapes, by their names."""
MEASURES: Mapping[str, Callable[[Credit], Mapping[str, float]]] = {
    "worth": lambda one: one.worth,
    "reward": lambda one: one.reward,
}


def correlations(found: Found, worlds: Worlds) -> Iterator[str]:
    """Tell how far what schemes say goes with what is true."""
    truths = {"Shapley value": by_shapley, "marginal worth": by_leaving_out}
    columns = [f"{measure}: {name}" for measure in MEASURES for name in truths]
    yield from head("rank correlation", *columns, "top share")
    for name, came in _with_samples(found):
        cells = (
            Interval(_correlated(came, worlds, of, true)).shown()
            for of in MEASURES.values()
            for true in truths.values()
        )
        tops = [fmean(one.top for one in outcome.credits) for outcome in came.values()]
        yield row(name, *cells, Interval(tops).shown(signed=False))


def _correlated(
    came: Mapping[str, Outcome],
    worlds: Worlds,
    of: Callable[[Credit], Mapping[str, float]],
    true: Callable[[Landscape], Mapping[str, float]],
) -> list[float]:
    """Give a rank correlation for each landscape."""
    return [
        rank_correlation(*_beside(_means(outcome, of), true(worlds[name])))
        for name, outcome in came.items()
        if of(outcome.credits[0])
    ]


def _beside(one: Said, other: Said) -> tuple[list[float], list[float]]:
    return [one[agent] for agent in AGENTS], [other[agent] for agent in AGENTS]


def _means(outcome: Outcome, of: Callable[[Credit], Mapping[str, float]]) -> dict[str, float]:
    """Give what a scheme says of each specialist, on the mean over cases."""
    return {agent: fmean(of(one)[agent] for one in outcome.credits) for agent in AGENTS}


def said_of_kinds(found: Found, worlds: Worlds) -> Iterator[str]:
    """Tell what is true of each kind of specialist, and what schemes say."""
    yield from head("worth", *KINDS)
    for name, true in {"Shapley value": by_shapley, "marginal worth": by_leaving_out}.items():
        yield row(f"true {name}", *_of_kinds({one: true(of) for one, of in worlds.items()}, worlds))
    for name, came in _with_samples(found):
        said = {one: _means(outcome, MEASURES["worth"]) for one, outcome in came.items()}
        yield row(name, *_of_kinds(said, worlds))


def _of_kinds(said: Mapping[str, Said], worlds: Worlds) -> Iterator[str]:
    for kind in KINDS:
        values = [
            of[seat.agent]
            for name, of in said.items()
            for seat in worlds[name].seats
            if seat.kind == kind
        ]
        yield Interval(values).shown()


def kept(found: Found) -> Iterator[str]:
    """Tell whose utterances became entries, and how good those are."""
    yield from head("kept", "entries", *KINDS, "sound", "unsound")
    for name, came in _schemes(found):
        outcomes = came.values()
        shares = (
            Interval([_share(one, one.kept.get(kind, 0)) for one in outcomes]) for kind in KINDS
        )
        sound, unsound = (
            Interval([_share(one, count) for one, count in zip(outcomes, counts, strict=True)])
            for counts in ([one.sound for one in outcomes], [one.unsound for one in outcomes])
        )
        cells = (one.shown(signed=False) for one in (*shares, sound, unsound))
        yield row(name, f"{fmean(one.entries for one in outcomes):.1f}", *cells)


def _share(one: Outcome, count: int) -> float:
    return count / one.entries if one.entries else 0.0


def held_out(found: Found) -> Iterator[str]:
    """Tell what experience is worth on other cases."""
    yield from head("held out", "answer", "worth")
    for name, came in found.items():
        answers = Interval([one.answer for one in came.values()])
        worths = Interval([one.promised for one in came.values()])
        yield row(name, answers.shown(signed=False), worths.shown(signed=False))


def differences(found: Found, *references: str) -> Iterator[str]:
    """Compare rows landscape by landscape: the same cases, and the same chance."""
    yield from head("difference", "answer", "worth")
    for reference in references:
        for name in found:
            if name not in references[: references.index(reference) + 1]:
                yield row(f"{name} - {reference}", *_between(found, name, reference))


def _between(found: Found, name: str, reference: str) -> Iterator[str]:
    pairs = [(found[name][one], other) for one, other in found[reference].items()]
    yield Interval([one.answer - other.answer for one, other in pairs]).shown()
    yield Interval([one.promised - other.promised for one, other in pairs]).shown()


def costs(found: Found) -> Iterator[str]:
    """Tell what a case cost to learn from, and what a journal answered."""
    yield from head("each case", "calls paid", "tokens paid", "calls answered", "tokens answered")
    for name, came in _with_samples(found):
        cases = sum(len(one.credits) for one in came.values())
        paid, spared = (
            [getattr(one, what) for one in came.values()] for what in ("paid", "spared")
        )
        sums = [
            sum(getattr(one, unit) for one in of)
            for of in (paid, spared)
            for unit in ("calls", "tokens")
        ]
        yield row(name, *(f"{one / cases:.1f}" for one in sums))


def covering(found: Found) -> Iterator[str]:
    """Tell how many intervals cover 0 where nobody differs from anybody."""
    yield from head(
        "cover 0", "over landscapes", "in a landscape", "correlation with a drawn order"
    )
    for name, came in _with_samples(found):
        for measure, of in MEASURES.items():
            if not all(of(one.credits[0]) for one in came.values()):
                continue
            over = [Interval([_off(_means(it, of), one) for it in came.values()]) for one in AGENTS]
            inside = [
                Interval([_off(of(credit), one) for credit in outcome.credits])
                for outcome in came.values()
                for one in AGENTS
            ]
            orders = [
                rank_correlation(*_beside(_means(outcome, of), _drawn_order(landscape)))
                for landscape, outcome in came.items()
            ]
            yield row(
                f"{name}: {measure}", _covered(over), _covered(inside), Interval(orders).shown()
            )


def _off(said: Said, agent: str) -> float:
    """Give what is said of a specialist less what is said of all on the mean."""
    return said[agent] - fmean(said.values())


def _covered(intervals: Sequence[Interval]) -> str:
    return f"{sum(one.covers_nothing for one in intervals)} of {len(intervals)}"


def _drawn_order(landscape: str) -> dict[str, float]:
    source = random.Random(f"consulting, order {landscape}")  # noqa: S311 - guards nothing
    return dict(zip(AGENTS, source.sample(range(len(AGENTS)), len(AGENTS)), strict=True))


def _schemes(found: Found) -> Iterator[tuple[str, dict[str, Outcome]]]:
    return ((name, came) for name, came in found.items() if name != NOTHING.name)


def _with_samples(found: Found) -> Iterator[tuple[str, dict[str, Outcome]]]:
    """Give schemes, and after those that were sampled what a few orders come to."""
    for name, came in _schemes(found):
        yield name, came
        few = {one: outcome.sampled for one, outcome in came.items() if outcome.sampled}
        if few:
            yield f"{name}, {ORDERS} orders", few
