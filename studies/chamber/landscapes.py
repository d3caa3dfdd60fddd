"""Worlds of a population: the numbers by which one works."""

from __future__ import annotations

import random
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["EVERYWHERE", "NICHES", "REGIMES", "Ground", "Landscape", "drawn", "level"]

Range = tuple[float, float]

REGIMES: Mapping[str, Mapping[str, Range]] = MappingProxyType(
    {
        "orchard": {"able": (0.9, 0.97), "unable": (0.5, 0.65), "found": (0.6, 0.8)},
        "harbour": {"able": (0.8, 0.9), "unable": (0.2, 0.35), "found": (0.35, 0.5)},
        "foundry": {"able": (0.6, 0.8), "unable": (0.08, 0.18), "found": (0.2, 0.35)},
        "glacier": {"able": (0.35, 0.55), "unable": (0.02, 0.05), "found": (0.1, 0.2)},
    }
)
"""What each niche's numbers are drawn from, evenly; the regimes of EvoChamber, App. I."""
NICHES = (*REGIMES,)
RELATIONS: Mapping[str, Range] = MappingProxyType(
    {"convincing": (0.2, 0.9), "checking": (0.5, 0.9), "parts": (-0.6, 0.9)}
)
"""What structures are worth in a niche depends on these, drawn for each niche."""
EVERYWHERE: Mapping[str, Range] = MappingProxyType(
    {
        "trust": (0.5, 0.9),
        "alike": (0.1, 0.4),
        "lure": (0.2, 0.6),
        "dilution": (0.02, 0.1),
        "habit": (0.1, 0.4),
        "persona": (0.1, 0.4),
        "elsewhere": (0.1, 0.4),
        "whim": (0.0, 0.2),
    }
)
"""What the numbers of all niches together are drawn from."""
LEVEL = {"alike": 1.0, "lure": 1.0, "dilution": 0.0, "habit": 0.0, "persona": 0.0, "elsewhere": 0.0}
"""What these are where nothing is to have an effect."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Ground:
    """A niche. `parts` is on log odds, all others are chances.

    Attributes:
        able: How often somebody is right who works by the right method.
        unable: How often somebody is right who works by a wrong one.
        found: How often somebody finds the right method without lessons.
        convincing: How often a right answer among others is seen to be right.
        checking: How often a critic judges rightly.
        parts: What a plan of parts adds.
    """

    able: float
    unable: float
    found: float
    convincing: float
    checking: float
    parts: float

    @property
    def alone(self) -> float:
        """How often a single agent is right without lessons, habits apart."""
        return self.found * self.able + (1 - self.found) * self.unable


@dataclass(frozen=True, kw_only=True, slots=True)
class Landscape:
    """The numbers of a world. Those from `dilution` to `elsewhere` are on log odds.

    Attributes:
        name: What it is called; which methods and habits are right depends on it.
        grounds: The niches by name.
        trust: How often an agent goes by its lessons where it has some for the task.
        alike: Which share of attempts at a task shares one luck.
        lure: Which share of wrong answers to a task is the same letter.
        dilution: What each lesson for other tasks takes away.
        habit: What each sound habit adds, and each unsound one takes away.
        persona: What a persona adds on the niches that it names, over their number.
        elsewhere: What it takes away on others.
        whim: How often a leader draws a structure.
        luck: Whose luck it is; nobody's in particular, and then it is the same for all.
    """

    name: str
    grounds: Mapping[str, Ground]
    trust: float
    alike: float
    lure: float
    dilution: float
    habit: float
    persona: float
    elsewhere: float
    whim: float
    luck: str


def drawn(number: int) -> Landscape:
    """Draw a world; the same for the same number."""
    source = random.Random(f"chamber {number}")  # noqa: S311 - guards nothing
    grounds = {
        niche: Ground(**_within({**ranges, **RELATIONS}, source))
        for niche, ranges in REGIMES.items()
    }
    numbers = _within(EVERYWHERE, source)
    return Landscape(name=f"drawn {number}", grounds=MappingProxyType(grounds), luck="", **numbers)


def level(number: int, luck: str) -> Landscape:
    """Draw a world in which nothing that anybody says or knows has an effect.

    Args:
        number: Which one.
        luck: Whose luck it is: all attempts at a task come out alike, so with one luck for all rows
            these would be one.
    """
    source = random.Random(f"chamber, level {number}")  # noqa: S311 - guards nothing
    grounds: dict[str, Ground] = {}
    for niche, ranges in REGIMES.items():
        ground = Ground(**_within({**ranges, **RELATIONS}, source))
        grounds[niche] = Ground(
            able=ground.alone,
            unable=ground.alone,
            found=ground.found,
            convincing=ground.convincing,
            checking=ground.checking,
            parts=0.0,
        )
    numbers = {**_within(EVERYWHERE, source), **LEVEL}
    return Landscape(
        name=f"level {number}", grounds=MappingProxyType(grounds), luck=luck, **numbers
    )


def _within(ranges: Mapping[str, Range], source: random.Random) -> dict[str, float]:
    return {name: source.uniform(*bounds) for name, bounds in ranges.items()}
