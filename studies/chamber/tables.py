"""The tables of docs/evochamber-simulated.md, of what came of rows on streams."""

from __future__ import annotations

from collections import Counter
from statistics import fmean
from typing import TYPE_CHECKING

from ..simulated import Interval, head, row
from .landscapes import NICHES
from .rows import FULL, ROWS, SINGLE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from .outcomes import Outcome

__all__ = [
    "Found",
    "accuracies",
    "chosen",
    "costs",
    "covering",
    "differences",
    "identities",
    "knowledge",
    "rosters",
    "specialists",
]

Found = dict[str, dict[int, "Outcome"]]
"""What came of rows, by their names, by seeds."""
STRUCTURES = ("voting", "debate", "generator_critic", "decompose")
REASONS = ("reward", "disagreement")
FATES = ("abstained", "came")
LIFECYCLE = ("fork", "merge", "prune", "genesis", "specialize")
MEASURES: Mapping[str, Callable[[Outcome], float]] = {
    "accuracy": lambda one: one.accuracy,
    "last quarter": lambda one: one.late,
    **{niche: (lambda one, niche=niche: one.on(niche)) for niche in NICHES},
}
PAPER: Mapping[str, str] = {one.name: one.paper for one in ROWS}


def accuracies(found: Found) -> Iterator[str]:
    """Tell how many answers were right."""
    yield from head("row", *MEASURES)
    for name, came in found.items():
        cells = (Interval([of(one) for one in came.values()]) for of in MEASURES.values())
        yield row(name, *(one.shown(signed=False) for one in cells))


def differences(found: Found) -> Iterator[str]:
    """Compare rows with the full one seed by seed: the same tasks, and the same luck."""
    yield from head("less full", *MEASURES, "in the paper")
    for name, came in found.items():
        if name != FULL.name:
            cells = (one.shown() for one in _less_full(found, came))
            yield row(name, *cells, PAPER.get(name) or "-")


def _less_full(found: Found, came: Mapping[int, Outcome]) -> list[Interval]:
    full = found[FULL.name]
    return [
        Interval([of(one) - of(full[seed]) for seed, one in came.items()])
        for of in MEASURES.values()
    ]


def covering(found: Found) -> Iterator[str]:
    """Tell how many intervals cover 0 where nothing is worth anything."""
    yield from head("less full, cover 0", *MEASURES)
    came = [_less_full(found, one) for name, one in found.items() if name != FULL.name]
    columns = [*zip(*came, strict=True)]
    yield row("all rows", *(_covered(one) for one in columns))


def _covered(intervals: Sequence[Interval]) -> str:
    return f"{sum(one.covers_nothing for one in intervals)} of {len(intervals)}"


def specialists(found: Found) -> Iterator[str]:
    """Tell how far leading is concentrated (EvoChamber, Table 6)."""
    columns = "mean index", "by chance", "max index", "unique anchors", "agents left"
    yield from head("specialists", *columns)
    for name, came in _populations(found):
        outcomes = [*came.values()]
        values = (
            [fmean(one.index) for one in outcomes],
            [one.chance or 0.0 for one in outcomes],
            [max(one.index) for one in outcomes],
            [float(len({*one.anchors})) for one in outcomes],
            [float(one.left) for one in outcomes],
        )
        yield row(name, *(Interval(one).shown(signed=False) for one in values))


def identities(found: Found) -> Iterator[str]:
    """Tell who leads a niche most often: how many others it is in other seeds, and how often."""
    yield from head("who leads most: agents, share", *NICHES)
    for name, came in _populations(found):
        tops = [[one.top(niche) for one in came.values()] for niche in NICHES]
        cells = (
            f"{len({who for who, _ in one})} in {len(one)},"
            f" {Interval([share for _, share in one]).shown(signed=False)}"
            for one in tops
        )
        yield row(name, *cells)


def rosters(found: Found) -> Iterator[str]:
    """Tell what the lifecycle and dreams did, on the mean over seeds."""
    dreams = "dreams", "in vain", "insights", "verified", "recipients of each"
    columns = *LIFECYCLE, *dreams
    yield from head("a stream", *columns)
    for name, came in _populations(found):
        outcomes = [*came.values()]
        acts = [fmean(one.lifecycle.get(it, 0) for one in outcomes) for it in LIFECYCLE]
        dreamt = fmean(sum(one.dreams.get(it, 0) for it in REASONS) for one in outcomes)
        vain, tested = (fmean(one.dreams.get(it, 0) for one in outcomes) for it in FATES)
        verified = fmean(len(one.routed) for one in outcomes)
        routed = [many for one in outcomes for many in one.routed]
        each = fmean(routed) if routed else 0.0
        cells = *acts, dreamt, vain, tested, verified, each
        yield row(name, *(f"{one:.1f}" for one in cells))


def knowledge(found: Found) -> Iterator[str]:
    """Tell how much of what was learnt is true, and how many entries there are."""
    yield from head("true", *NICHES, "habits", "entries")
    for name, came in found.items():
        outcomes = [one for one in came.values() if one.truths]
        if not outcomes:
            continue
        cells = (
            Interval([_share(one, of) for one in outcomes if of in one.truths]).shown(signed=False)
            for of in (*NICHES, "habits")
        )
        entries = fmean(sum(many for _, many in one.truths.values()) for one in outcomes)
        yield row(name, *cells, f"{entries:.0f}")


def _share(one: Outcome, of: str) -> float:
    true, many = one.truths[of]
    return true / many


def chosen(found: Found) -> Iterator[str]:
    """Tell which structures the leaders of the full row chose, and how often that was right."""
    yield from head("chosen: share, right", *NICHES)
    outcomes = [*found[FULL.name].values()]
    for structure in STRUCTURES:
        yield row(structure, *(_worked(outcomes, structure, niche) for niche in NICHES))


def _worked(outcomes: Sequence[Outcome], structure: str, niche: str) -> str:
    shares: list[float] = []
    scores: list[float] = []
    for one in outcomes:
        told = [*zip(one.niches, one.structures, one.scores, strict=True)]
        own = [score for of, by, score in told if of == niche and by == structure]
        shares.append(len(own) / max(1, Counter(one.niches)[niche]))
        scores += own
    return f"{fmean(shares):.2f}, {fmean(scores):.2f}" if scores else "0.00, -"


def costs(found: Found) -> Iterator[str]:
    """Tell what a task costs."""
    columns = "calls", "operators' calls", "tokens", "operators' tokens", "times the single agent"
    yield from head("a task", *columns, "CPU seconds")
    alone = found.get(SINGLE.name, {})
    for name, came in found.items():
        calls, asked = (_each(came, lambda one, of=of: one.calls.get(of, 0)) for of in MODELS)
        tokens, spent = (_each(came, lambda one, of=of: one.tokens.get(of, 0)) for of in MODELS)
        times = [_tokens(one) / _tokens(alone[seed]) for seed, one in came.items() if seed in alone]
        seconds = _each(came, lambda one: one.seconds)
        ratio = Interval(times).shown(signed=False)
        cells = f"{calls:.1f}", f"{asked:.1f}", f"{tokens:.0f}", f"{spent:.0f}", ratio
        yield row(name, *cells, f"{seconds:.3f}")


MODELS = ("default", "meta")


def _tokens(one: Outcome) -> float:
    return sum(one.tokens.values()) / len(one.scores)


def _each(came: Mapping[int, Outcome], of: Callable[[Outcome], float]) -> float:
    return fmean(of(one) / len(one.scores) for one in came.values())


def _populations(found: Found) -> Iterator[tuple[str, dict[int, Outcome]]]:
    """Give the rows in which there is somebody to choose from, so that the index says something."""
    for name, came in found.items():
        if all(one.index for one in came.values()):
            yield name, came
