"""What specialists read, what is decided by it, and what each of them is truly worth.

A case has findings, each of which is there or not. A slide shows some of them, and a reading of it
is right so often and no oftener. The decision goes by the majority of the slides that were read.
What a group of specialists is worth follows exactly; no code of the credit schemes is used for it.
"""

from __future__ import annotations

import functools
import hashlib
import math
import random
from collections import Counter
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING

from .landscapes import AGENTS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from .landscapes import Landscape, Seat

__all__ = [
    "FINDINGS",
    "NICHES",
    "WAYS",
    "Case",
    "Reading",
    "by_leaving_out",
    "by_shapley",
    "case_of",
    "decided",
    "effect",
    "reading",
    "shown",
    "soundness",
    "title",
    "worth",
]

FINDINGS = 4
NICHES = ("north", "south", "east")
WAYS = (
    *("begin at the edges", "compare both sides", "count before naming", "doubt the first look"),
    *("go from large to small", "look away and look again", "mark what is missing", "read twice"),
    *("turn the slide", "name the opposite", "start from the stain", "weigh the rarest sign"),
)
"""Ways of working; in each niche a third of them is sound, a third unsound, a third neither."""
SIGNS = ("ache", "chill", "cough", "cramp", "fever", "rash", "tremor", "yawn")
"""What a case looks like from outside: it tells nothing of its findings, but tells cases apart."""
SHOWING = 2
PLACES = 3
THIRD = len(WAYS) // PLACES
SOUND, NEITHER, UNSOUND = 1, 0, -1


@dataclass(frozen=True, kw_only=True, slots=True)
class Case:
    """A case, as nobody in the landscape sees it."""

    title: str
    niche: str
    signs: tuple[str, ...]
    findings: tuple[bool, ...]


@dataclass(frozen=True, slots=True)
class Reading:
    """What a slide is said to show: whether a finding is there."""

    finding: int
    there: bool
    slide: str


def title(seed: int, number: int) -> str:
    """Name a case: the number of a stream, and its own."""
    return f"Case {seed}/{number}"


@functools.lru_cache(maxsize=1_000)
def case_of(named: str) -> Case:
    """Make a case; the same for the same title."""
    source = _chance(named)
    niche = NICHES[int(named.rpartition("/")[2]) % len(NICHES)]
    findings = tuple(source.random() < 0.5 for _ in range(FINDINGS))
    signs = (*sorted(source.sample(SIGNS, SHOWING)),)
    return Case(title=named, niche=niche, signs=signs, findings=findings)


def shown(landscape: Landscape, seat: Seat, case: Case) -> list[int]:
    """Name the findings that a specialist's slide shows; none where it has no slide."""
    if seat.slide is None:
        return []
    source = _chance(f"{landscape.name}/{case.title}/{seat.slide}/shown")
    return [one for one in range(FINDINGS) if source.random() < landscape.coverage]


def reading(
    landscape: Landscape, seat: Seat, case: Case, finding: int, *, effect: float, heard: str
) -> Reading:
    """Read a finding off a specialist's slide.

    Args:
        landscape: Where.
        seat: The specialist, who has a slide.
        case: The case.
        finding: Which finding.
        effect: What its experience adds to the log odds of being right.
        heard: What all were told; a share of readings comes out anew with other words.
    """
    slide = str(seat.slide)
    luck = _luck(landscape, f"{landscape.name}/{case.title}/{slide}/{finding}", heard)
    is_right = luck < shifted(seat.reliability, effect)
    return Reading(finding, case.findings[finding] == is_right, slide)


def decided(
    landscape: Landscape, case: Case, readings: Iterable[Reading], heard: str
) -> tuple[bool, ...]:
    """Decide on each finding by the majority of slides; of one slide the first reading counts.

    Args:
        landscape: Where.
        case: The case.
        readings: What was read.
        heard: The words that they came in.
    """
    first: dict[tuple[str, int], bool] = {}
    for one in readings:
        first.setdefault((one.slide, one.finding), one.there)
    votes = Counter[int]()
    for (_, finding), there in first.items():
        votes[finding] += 1 if there else -1
    return tuple(_decision(landscape, case, one, votes[one], heard) for one in range(FINDINGS))


def _decision(landscape: Landscape, case: Case, finding: int, votes: int, heard: str) -> bool:
    """Go by the majority, by a coin where there is none; sometimes the other way."""
    name = f"{landscape.name}/{case.title}/decision/{finding}"
    there = votes > 0 if votes else _luck(landscape, f"{name}/coin", heard) < 0.5
    return there != (_luck(landscape, f"{name}/slip", heard) < landscape.slip)


def worth(landscape: Landscape, group: Iterable[str], added: float = 0.0) -> float:
    """Give the share of findings that a group of specialists gets right, over all cases.

    Args:
        landscape: Where.
        group: Their ids.
        added: What experience adds to the log odds of a right reading.
    """
    present = {*group}
    slides = {
        one.slide: shifted(one.reliability, added)
        for one in landscape.seats
        if one.slide is not None and one.agent in present
    }
    lead: Mapping[int, float] = {0: 1.0}
    for right in slides.values():
        lead = _with(lead, landscape.coverage, right)
    won = sum(chance for votes, chance in lead.items() if votes > 0) + lead.get(0, 0.0) / 2
    return won * (1 - landscape.slip) + (1 - won) * landscape.slip


def _with(lead: Mapping[int, float], coverage: float, right: float) -> Mapping[int, float]:
    """Give the chances of each lead of the right votes with one slide more."""
    more: dict[int, float] = {}
    steps = {1: coverage * right, 0: 1 - coverage, -1: coverage * (1 - right)}
    for votes, chance in lead.items():
        for step, share in steps.items():
            more[votes + step] = more.get(votes + step, 0.0) + chance * share
    return more


@functools.lru_cache(maxsize=1_000)
def _by_leaving_out(landscape: Landscape) -> tuple[float, ...]:
    whole = worth(landscape, AGENTS)
    return tuple(whole - worth(landscape, {*AGENTS} - {one}) for one in AGENTS)


def by_leaving_out(landscape: Landscape) -> dict[str, float]:
    """Give what all are worth less what they are worth without each one."""
    return dict(zip(AGENTS, _by_leaving_out(landscape), strict=True))


def by_shapley(landscape: Landscape) -> dict[str, float]:
    """Give each specialist's Shapley value (Shapley 1953), from all groups of the others."""
    return {one: _shapley(landscape, one) for one in AGENTS}


def _shapley(landscape: Landscape, agent: str) -> float:
    others = [one for one in AGENTS if one != agent]
    total = 0.0
    for size in range(len(AGENTS)):
        share = 1 / (len(AGENTS) * math.comb(len(others), size))
        for group in combinations(others, size):
            total += share * (worth(landscape, [*group, agent]) - worth(landscape, group))
    return total


@functools.lru_cache(maxsize=1_000)
def _sorted_ways(landscape: str, niche: str) -> tuple[str, ...]:
    return (*_chance(f"{landscape}/{niche}/ways").sample(WAYS, len(WAYS)),)


def ways(landscape: Landscape, niche: str, kind: int) -> tuple[str, ...]:
    """Name the ways of working that are sound, unsound or neither in a niche."""
    place = (SOUND, NEITHER, UNSOUND).index(kind)
    return _sorted_ways(landscape.name, niche)[place * THIRD : (place + 1) * THIRD]


def soundness(landscape: Landscape, niche: str, way: str) -> int:
    """Tell of a way of working: 1 where it is sound, -1 where it is unsound, 0 where neither."""
    return next(one for one in (SOUND, NEITHER, UNSOUND) if way in ways(landscape, niche, one))


def way_of(landscape: Landscape, case: Case, said: Iterable[Reading], who: str) -> str:
    """Draw the way of working in which something was read: a sound one where most of it is right.

    Args:
        landscape: Where.
        case: The case.
        said: What was read.
        who: Whose it is: the slide, or who has none.
    """
    marks = [SOUND if right_in(case, one) else UNSOUND for one in said]
    balance = sum(marks)
    kind = (balance > 0) - (balance < 0)
    source = _chance(f"{landscape.name}/{case.title}/{who}/way {len(marks)} {balance}")
    return source.choice(ways(landscape, case.niche, kind))


def right_in(case: Case, one: Reading) -> bool:
    """Tell whether a reading is right."""
    return case.findings[one.finding] == one.there


def effect(landscape: Landscape, niche: str, reminded: Iterable[tuple[str, str]]) -> float:
    """Give what experience adds to the log odds of a right reading; each way counts once.

    Args:
        landscape: Where.
        niche: The kind of case.
        reminded: The niche and the way of working of each entry that an agent reads.
    """
    found = {way for of, way in reminded if of == niche}
    marks = Counter(soundness(landscape, niche, way) for way in found)
    return landscape.boost * marks[SOUND] - landscape.harm * marks[UNSOUND]


def shifted(chance: float, odds: float) -> float:
    """Add to the log odds of a chance, which is neither 0 nor 1."""
    return 1 / (1 + (1 - chance) / chance * math.exp(-odds))


def without_taste(landscape: Landscape) -> Landscape:
    """Give the same landscape with a judge to whom it is all one how sure somebody sounds."""
    return replace(landscape, taste=0.0)


def _luck(landscape: Landscape, name: str, heard: str) -> float:
    """Draw a number in [0, 1): a share of them whatever was heard, the others anew with it."""
    source = _chance(name)
    is_fixed, number = source.random() < landscape.alike, source.random()
    if is_fixed:
        return number
    sign = hashlib.sha256(heard.encode()).hexdigest()
    return _chance(f"{name}/{sign}").random()


def _chance(name: str) -> random.Random:
    return random.Random(f"consulting/{name}")  # noqa: S311 - guards nothing
