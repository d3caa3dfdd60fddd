"""Landscapes of rounds: the numbers by which a world works, drawn from ranges that are told."""

from __future__ import annotations

import random
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["EFFECTS", "LEVEL", "RANGES", "Landscape", "drawn", "level"]

RANGES: Mapping[str, tuple[float, float]] = MappingProxyType(
    {
        "strength": (0.3, 0.6),
        "stranger": (-1.5, -0.3),
        "missing": (-1.0, -0.2),
        "distraction": (-0.3, 0.0),
        "lesson": (0.3, 1.0),
        "fading": (0.4, 0.9),
        "spread": (0.0, 0.8),
        "misfit": (-0.3, 0.1),
        "loss": (0.0, 1.0),
        "again": (0.0, 0.3),
        "coupling": (0.2, 0.7),
        "alike": (0.3, 0.9),
        "noise": (0.0, 0.3),
        "sight": (0.0, 1.0),
        "skill": (0.4, 0.9),
        "untraced": (0.3, 0.8),
    }
)
"""What each number of a drawn landscape is drawn from, evenly."""
LEVEL = (0.2, 0.8)
"""What the accuracy of all teams of a level landscape is drawn from."""
EFFECTS = ("stranger", "missing", "distraction", "lesson", "misfit", "again", "sight")
"""What is 0 in a level landscape, so that neither crafts, edges, coaching nor rounds matter."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Landscape:
    """How well agents, teams, the meta-model and its judge do. Effects are on log odds.

    Attributes:
        name: What it is called.
        strength: How often an agent of the right craft is right that has all that its part needs.
        stranger: What an agent of another craft adds.
        missing: What each other part adds whose working is needed and not heard of.
        distraction: What each report adds that brings nothing.
        lesson: What the first lesson adds that helps with the part.
        fading: What each further one adds, as a share of the one before.
        spread: How far the effect of single lessons is from that at most, as a share of it.
        misfit: What a lesson adds that does not help with the part.
        loss: Which share of a lesson's effect is lost where all neighbours are others.
        again: What having answered once before adds.
        coupling: How often a part needs an earlier one.
        alike: Which share of letters comes out alike whenever a team as good answers.
        noise: How far a judge's estimates are off at most.
        sight: How far the judge sees the luck in an answer, not only what could be expected.
        skill: How often the meta-model knows what is best.
        untraced: What that is multiplied by where no run is shown.
    """

    name: str
    strength: float
    stranger: float
    missing: float
    distraction: float
    lesson: float
    fading: float
    spread: float
    misfit: float
    loss: float
    again: float
    coupling: float
    alike: float
    noise: float
    sight: float
    skill: float
    untraced: float


def drawn(number: int) -> Landscape:
    """Draw a landscape from `RANGES`; the same for the same number."""
    return Landscape(name=f"drawn {number}", **_numbers(f"adaptation {number}"))


def level(number: int) -> Landscape:
    """Draw a landscape in which every team is right equally often, however it is coached."""
    numbers = {**_numbers(f"adaptation, level {number}"), **dict.fromkeys(EFFECTS, 0.0)}
    source = random.Random(f"adaptation, strength {number}")  # noqa: S311 - guards nothing
    numbers["strength"] = source.uniform(*LEVEL)
    return Landscape(name=f"level {number}", **numbers)


def _numbers(seed: str) -> dict[str, float]:
    source = random.Random(seed)  # noqa: S311 - guards nothing
    return {name: source.uniform(*bounds) for name, bounds in RANGES.items()}
