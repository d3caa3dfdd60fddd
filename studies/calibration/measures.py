"""What a pool says of its teams, against what they are worth."""

from __future__ import annotations

import math
import statistics
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from coterie.pool.expectation.expectation import ranked

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from coterie.pool.ledger.members import Member


@dataclass(frozen=True, kw_only=True, slots=True)
class Outcome:
    """The result of one evolution.

    Attributes:
        teams: How many teams there are.
        covered: The share of them whose worth is in the interval of what is expected.
        ran: How many of them ran as they stand.
        own_covered: The share of these whose worth is in the interval of their own mean.
        bias: What is expected of teams less what they are worth, on average.
        highest: The most that is expected of any.
        own_highest: The highest mean of own scores.
        gain: What the team is worth that would be frozen, less what all teams are worth on average.
        over_founders: What it is worth, less what those are worth on average that were there first.
        off: What is expected of it, less what it is worth.
        told: What is expected of each team, and what it is worth.
    """

    teams: int
    covered: float
    ran: int
    own_covered: float
    bias: float
    highest: float
    own_highest: float
    gain: float
    over_founders: float
    off: float
    told: Sequence[tuple[float, float]]


def measured(members: Sequence[Member], worths: Mapping[str, float]) -> Outcome:
    """Compare what is said of teams with what they are worth."""
    expected = ranked(members)
    first, expectation = next(iter(expected.items()))
    own = {member.name: member.statistics for member in members if member.statistics.n}
    return Outcome(
        teams=len(members),
        covered=statistics.fmean(
            known.low <= worths[item.name] <= known.high for item, known in expected.items()
        ),
        ran=len(own),
        own_covered=sum(
            known.interval[0] <= worths[name] <= known.interval[1] for name, known in own.items()
        )
        / max(1, len(own)),
        bias=statistics.fmean(known.score - worths[item.name] for item, known in expected.items()),
        highest=max(known.score for known in expected.values()),
        own_highest=max((known.score or 0 for known in own.values()), default=0.0),
        gain=worths[first.name] - statistics.fmean(worths.values()),
        over_founders=worths[first.name]
        - statistics.fmean(worths[member.name] for member in members if not member.lineage.parents),
        off=expectation.score - worths[first.name],
        told=[
            (round(known.score, 4), round(worths[item.name], 4)) for item, known in expected.items()
        ],
    )


def told(values: Iterable[float]) -> str:
    """Write a mean over repetitions, with its 95 % interval."""
    drawn = list(values)
    mean = round(statistics.fmean(drawn), 3) + 0.0  # no -0.000
    if len(drawn) < 2:
        return f"{mean:.3f}"
    reach = 1.96 * statistics.stdev(drawn) / math.sqrt(len(drawn))
    return f"{mean:.3f} ± {reach:.3f}"


@dataclass(frozen=True, kw_only=True, slots=True)
class Decile:
    """A tenth of all teams, by what is expected of them: mean expected, mean worth, how many."""

    expected: float
    worth: float
    n: int


def deciles(pairs: Iterable[tuple[float, float]]) -> list[Decile]:
    """Put teams into ten groups of the same size, by what is expected of them."""
    ordered = sorted(pairs)
    ends = [round(number * len(ordered) / 10) for number in range(11)]
    groups = [ordered[start:end] for start, end in pairwise(ends) if end > start]
    return [
        Decile(
            expected=statistics.fmean(expected for expected, _ in group),
            worth=statistics.fmean(worth for _, worth in group),
            n=len(group),
        )
        for group in groups
    ]
