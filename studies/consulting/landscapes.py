"""Landscapes of consultations: who sits in one, and the numbers by which it works."""

from __future__ import annotations

import random
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["AGENTS", "KINDS", "RANGES", "Kind", "Landscape", "Seat", "drawn", "level"]

Kind = Literal["copied", "redundant", "helpful", "idle", "misleading", "equal"]
"""What a specialist is: helpful with somebody who says the same; who says the same; helpful alone;
without evidence; with evidence that is mostly false; as good as all others."""

AGENTS: tuple[str, ...] = ("amber", "birch", "cedar", "delta", "ember")
KINDS: tuple[Kind, ...] = ("copied", "redundant", "helpful", "idle", "misleading")
"""Who sits in a drawn consultation, in a drawn order."""
HELPFUL = (0.65, 0.9)
MISLEADING = (0.1, 0.4)
EQUAL = (0.55, 0.85)
"""What the reliability of all is drawn from in a level landscape."""
RANGES: Mapping[str, tuple[float, float]] = MappingProxyType(
    {
        "coverage": (0.5, 1.0),
        "alike": (0.5, 1.0),
        "slip": (0.0, 0.1),
        "sight": (0.3, 0.9),
        "noise": (0.0, 0.2),
        "taste": (0.3, 0.9),
        "boost": (0.2, 0.6),
        "harm": (0.2, 0.6),
    }
)
"""What each number of a landscape is drawn from, evenly."""
EFFECTS = ("boost", "harm")
"""What is 0 in a level landscape, so that experience changes nothing."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Seat:
    """A specialist.

    Attributes:
        agent: Its id.
        kind: What it is.
        slide: What it reads; None: nothing. Two with one slide read the same.
        reliability: How often a reading of that slide is right.
        loudness: How sure of itself it sounds, in [0, 1].
    """

    agent: str
    kind: Kind
    slide: str | None
    reliability: float
    loudness: float


@dataclass(frozen=True, kw_only=True, slots=True)
class Landscape:
    """Who sits in a consultation, and how well everybody does. Effects are on log odds.

    Attributes:
        name: What it is called.
        seats: The specialists.
        coverage: How often a slide shows a finding at all.
        alike: Which share of readings and decisions comes out alike whatever else was heard.
        slip: How often the decision on a finding is turned round.
        sight: How far the judge sees whether what was said is right.
        noise: How far its scores are off at most.
        taste: What it gives for sounding sure, from the one end of loudness to the other.
        boost: What each sound way of working adds that an agent was reminded of.
        harm: What each unsound one takes away.
    """

    name: str
    seats: tuple[Seat, ...]
    coverage: float
    alike: float
    slip: float
    sight: float
    noise: float
    taste: float
    boost: float
    harm: float

    def seat(self, agent: str) -> Seat:
        """Find a specialist by its id."""
        return next(one for one in self.seats if one.agent == agent)


def drawn(number: int) -> Landscape:
    """Draw a landscape; the same for the same number."""
    source = random.Random(f"consulting {number}")  # noqa: S311 - guards nothing
    numbers = {name: source.uniform(*bounds) for name, bounds in RANGES.items()}
    kinds = source.sample(KINDS, len(KINDS))
    shared = AGENTS[kinds.index("copied")]
    good = {one: source.uniform(*HELPFUL) for one in ("copied", "helpful")}
    reliable = {**good, "redundant": good["copied"], "misleading": source.uniform(*MISLEADING)}
    slides = {"redundant": shared[0].upper(), "idle": None}
    seats = tuple(
        Seat(
            agent=agent,
            kind=kind,
            slide=slides.get(kind, agent[0].upper()),
            reliability=reliable.get(kind, 0.0),
            loudness=source.random(),
        )
        for agent, kind in zip(AGENTS, kinds, strict=True)
    )
    return Landscape(name=f"drawn {number}", seats=seats, **numbers)


def level(number: int) -> Landscape:
    """Draw a landscape in which all specialists are alike and experience has no effect."""
    source = random.Random(f"consulting, level {number}")  # noqa: S311 - guards nothing
    numbers = {name: source.uniform(*bounds) for name, bounds in RANGES.items()}
    reliability = source.uniform(*EQUAL)
    seats = tuple(
        Seat(agent=one, kind="equal", slide=one[0].upper(), reliability=reliability, loudness=0.5)
        for one in AGENTS
    )
    return Landscape(
        name=f"level {number}", seats=seats, **{**numbers, **dict.fromkeys(EFFECTS, 0.0)}
    )
