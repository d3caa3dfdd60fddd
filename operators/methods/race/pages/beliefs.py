"""The beliefs of a race over time: each candidate's expected score after each tenth of the runs."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from .....runtime.view import PageTable
from .....runtime.view.plots import Scale, path_through
from ..standings import believed, rank

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ..result import Entrant, RaceResult
    from ..standings import Belief

PARTS = 10
"""Parts of the race, after each of which beliefs are shown."""
WIDE = 2
"""Standard deviations that are shown on either side."""
COLUMNS, WIDTH, HEIGHT, MARGIN, TITLE = 4, 250, 110, 8, 20
"""The figure's measures: panels side by side, and the pixels of one."""
MOST_PANELS = 100
LONGEST = 34


@dataclass(frozen=True, kw_only=True, slots=True)
class Moment:
    """The beliefs after some of the runs.

    Attributes:
        beliefs: The belief about each candidate that had run, by number.
        leader: The candidate with the highest expected score.
    """

    runs: int
    beliefs: Mapping[int, Belief]
    leader: int


def moments_of(result: RaceResult) -> Sequence[Moment]:
    """Return the beliefs after each tenth of the runs, from their scores in order."""
    total = len(result.slots)
    ends = dict.fromkeys(-(-total * part // PARTS) for part in range(1, PARTS + 1))
    return [_moment(result, end) for end in ends if end]


def _moment(result: RaceResult, runs: int) -> Moment:
    ran = Counter(result.slots[:runs])
    entrants = [
        replace(entrant, scores=entrant.scores[: ran[entrant.number]])
        for entrant in result.entrants
    ]
    posterior = believed(entrants)
    beliefs = [posterior.belief(steps) for steps in posterior.steps]
    leader = max(entrants, key=lambda entrant: rank(entrant, beliefs[entrant.number]))
    return Moment(
        runs=runs, beliefs={number: beliefs[number] for number in ran}, leader=leader.number
    )


def beliefs_table(result: RaceResult, moments: Sequence[Moment]) -> PageTable:
    """Return the figures that the panels draw."""

    def cell(entrant: Entrant, moment: Moment) -> str:
        belief = moment.beliefs.get(entrant.number)
        if belief is None:
            return ""
        leads = "★ " if entrant.number == moment.leader else ""
        return f"{leads}{belief.mean:.2f} ± {WIDE * belief.spread:.2f}"

    return PageTable(
        caption=f"Expected mean score ± {WIDE} standard deviations, after so many runs; ★ leads",
        heads={"candidate": "<", **{f"{moment.runs:,}": ">" for moment in moments}},
        rows=[
            (_title(entrant), *(cell(entrant, moment) for moment in moments))
            for entrant in result.entrants
        ]
        if moments
        else [],
    )


def panels_of(result: RaceResult, moments: Sequence[Moment]) -> Mapping[str, Any]:
    """Return a panel for each candidate in pixels, the leader's first."""
    ran = [entrant for entrant in result.entrants if entrant.number in {*result.slots}]
    ran.sort(key=lambda entrant: (entrant.number != result.leader, -entrant.mean))
    shown = ran[:MOST_PANELS]
    return {
        "width": COLUMNS * WIDTH,
        "height": -(-len(shown) // COLUMNS) * HEIGHT,
        "left_out": len(ran) - len(shown),
        "panels": [_panel(place, entrant, result, moments) for place, entrant in enumerate(shown)],
    }


def _panel(
    place: int, entrant: Entrant, result: RaceResult, moments: Sequence[Moment]
) -> Mapping[str, Any]:
    row, column = divmod(place, COLUMNS)
    left, top = column * WIDTH + MARGIN, row * HEIGHT + TITLE
    x = Scale(0, len(result.slots), left, left + WIDTH - 2 * MARGIN, 1)
    y = Scale(0, 1, top + HEIGHT - TITLE - MARGIN, top, 1)

    def through(number: int, spreads: int = 0) -> Iterator[tuple[float, float]]:
        for moment in moments:
            if belief := moment.beliefs.get(number):
                value = belief.mean + spreads * belief.spread
                yield x.at(moment.runs), y.at(min(1.0, max(0.0, value)))

    number = entrant.number
    band = [*through(number, WIDE), *[*through(number, -WIDE)][::-1]]
    own_moments = [moment for moment in moments if number in moment.beliefs]
    return {
        "title": ("★ " if number == result.leader else "") + _title(entrant),
        "series": 1 if number == result.leader else 0 if number else 3,
        "box": (left, top, x.end - left, y.start - top),
        "band": path_through(band),
        "path": path_through(through(number)),
        "original": path_through(through(0)),
        "dots": [
            (*at, moment.leader == number, _tip(moment, number))
            for moment, at in zip(own_moments, through(number), strict=True)
        ],
    }


def _tip(moment: Moment, number: int) -> str:
    belief = moment.beliefs[number]
    leads = ", leads" if moment.leader == number else ""
    return f"after {moment.runs:,} runs: {belief.mean:.2f} ± {WIDE * belief.spread:.2f}{leads}"


def _title(entrant: Entrant) -> str:
    title = f"{entrant.number} {entrant.kind if entrant.number else 'the original'}"
    return title if len(title) <= LONGEST else f"{title[: LONGEST - 1]}…"
