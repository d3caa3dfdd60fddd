"""The tables of docs/landscape.md, of what came of trials."""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING

from ..simulated import Interval, units

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from .trials import Children, Outcome

__all__ = [
    "Found",
    "covering",
    "crossings",
    "differences",
    "gains",
    "reference",
    "values",
]

Found = dict[str, dict[str, list["Outcome"]]]
"""What came of trials, by their names, by landscapes, by seeds."""


def reference(name: str) -> str:
    """Name the row that a row is compared with; a reference is its own."""
    return "right or wrong: EvoMAS" if name.startswith("right or wrong: ") else "EvoMAS"


def values(found: Found, names: Sequence[str]) -> Iterator[str]:
    """Tell how well ways to evolve did."""
    yield (
        "| | before | held-out | online | promised - held-out | by mean | best | tasks | calls |"
    )
    yield "|---|---|---|---|---|---|---|---|---|"
    for name in names:
        worlds = found[name]
        begun, by_mean, best, tasks, calls = (
            statistics.fmean(units(worlds, lambda one, at=field: getattr(one, at)))
            for field in ("begun", "by_mean", "best", "tasks", "calls")
        )
        held_out, online = (
            Interval(units(worlds, lambda one, at=field: getattr(one, at))).shown(signed=False)
            for field in ("held_out", "online")
        )
        promised = Interval(units(worlds, lambda one: one.promised - one.held_out)).shown()
        cells = (f"{begun:.3f}", held_out, online, promised, f"{by_mean:.3f}", f"{best:.3f}")
        yield f"| {name} | {' | '.join(cells)} | {tasks:.1f} | {calls:.0f} |"


def differences(found: Found, pairs: Iterable[tuple[str, str]]) -> Iterator[str]:
    """Compare ways landscape by landscape: the same tasks, and the same puzzles."""
    yield "| difference | held-out | online |"
    yield "|---|---|---|"
    for one, other in pairs:
        held_out, online = both(found, one, other)
        yield f"| {one} - {other} | {held_out.shown()} | {online.shown()} |"


def crossings(found: Found, names: Sequence[str]) -> Iterator[str]:
    """Tell what crossover adds, for each kind of parents and breadth of mutations."""
    yield "| parents, mutation of | held-out, with | without | difference | online, difference |"
    yield "|---|---|---|---|---|"
    for name in names:
        with_it, without = f"{name}, crossover", f"{name}, no crossover"
        held_out, online = both(found, with_it, without)
        each = (
            statistics.fmean(units(found[one], lambda outcome: outcome.held_out))
            for one in (with_it, without)
        )
        cells = " | ".join(f"{mean:.3f}" for mean in each)
        yield f"| {name} | {cells} | {held_out.shown()} | {online.shown()} |"


def both(found: Found, one: str, other: str) -> tuple[Interval, Interval]:
    """Give how much more one way came to than another, held out and online."""
    first, second = (
        [
            _mean(found[one][world], field) - _mean(found[other][world], field)
            for world in found[one]
        ]
        for field in ("held_out", "online")
    )
    return Interval(first), Interval(second)


def gains(found: Found, names: Sequence[str]) -> Iterator[str]:
    """Tell what operators' children were worth more than their best parents."""
    yield "| operator | children | dropped | questions each | true gain | better | worse |"
    yield "|---|---|---|---|---|---|---|"
    for name in names:
        for operator, worlds in sorted(_by_operator(found[name]).items()):
            each = [one for children in worlds.values() for one in children.gains]
            if not each:
                continue
            dropped = sum(children.dropped for children in worlds.values())
            asked = sum(children.questions for children in worlds.values())
            questions = f"{asked / (len(each) + dropped):.1f}" if asked else "-"
            better = sum(one > 0 for one in each) / len(each)
            worse = sum(one < 0 for one in each) / len(each)
            yield (
                f"| {name}: {operator} | {len(each)} | {dropped} | {questions}"
                f" | {gain(worlds).shown()} | {better:.0%} | {worse:.0%} |"
            )


def gain(worlds: Mapping[str, Children]) -> Interval:
    """Give the mean true gain, over landscapes in which there is a child."""
    return Interval([statistics.fmean(one.gains) for one in worlds.values() if one.gains])


def covering(found: Found, pairs: Sequence[tuple[str, str]], names: Sequence[str]) -> str:
    """Say how many of the intervals of differences and gains cover 0."""
    intervals = [each for pair in pairs for each in both(found, *pair)]
    for name in names:
        intervals += [gain(worlds) for worlds in _by_operator(found[name]).values()]
    intervals = [one for one in intervals if one.units]
    covered = sum(one.covers_nothing for one in intervals)
    return f"{covered} of {len(intervals)} intervals of differences and gains cover 0."


def _by_operator(worlds: Mapping[str, Sequence[Outcome]]) -> dict[str, dict[str, Children]]:
    """Put the children of all seeds of a landscape together."""
    by_operator: dict[str, dict[str, Children]] = {}
    for world, outcomes in worlds.items():
        for outcome in outcomes:
            for operator, children in outcome.children.items():
                each = by_operator.setdefault(operator, {})
                each[world] = each[world] + children if world in each else children
    return by_operator


def _mean(outcomes: Sequence[Outcome], field: str) -> float:
    return statistics.fmean(getattr(one, field) for one in outcomes)
