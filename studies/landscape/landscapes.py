"""Landscapes: the numbers by which a world works, one made by hand, the others drawn."""

from __future__ import annotations

import random
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["HAND_MADE", "MODELS", "NICHES", "RANGES", "Landscape", "drawn", "level"]

MODELS = ("strong", "middle", "weak")
"""By their mean accuracy over the niches; no more than a name for each."""
NICHES = ("boolean_expressions", "object_counting", "zebra_puzzles", "calendar")
RANGES: Mapping[str, tuple[float, float]] = MappingProxyType(
    {
        "strengths": (0.2, 0.7),
        "fit": (0.2, 1.2),
        "misfit": (-0.5, 0.1),
        "trap": (-0.8, 0.0),
        "shared": (0.1, 0.7),
        "blind": (0.5, 1.0),
        "insight": (0.5, 0.8),
        "acumen": (0.0, 0.3),
        "skill": (0.4, 0.9),
        "untraced": (0.3, 0.8),
        "sensitivity": (0.6, 0.95),
        "specificity": (0.6, 0.95),
    }
)
"""What each number of a landscape is drawn from, evenly; the strengths for each niche and model."""
LEVEL = (0.2, 0.8)
"""What the accuracy of all teams of a level landscape is drawn from."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Landscape:
    """How well agents, teams, the meta-model and a judge do.

    Attributes:
        name: What it is called.
        strengths: How often a single agent is right, for each niche and model.
        fit: What the sentence that suits the niche adds to the log odds of being right.
        misfit: What one that suits another niche adds.
        trap: What a sentence that suits none adds.
        shared: How often an answer is what all agents of its model would answer.
        blind: How often a checker passes the mistake that its own model makes.
        insight: How often a checker judges an answer rightly, apart from
        acumen: times the checker's own strength, which comes on top.
        skill: How often the meta-model knows what is best.
        untraced: What that is multiplied by where it sees no run of the team on the task.
        sensitivity: How often a judge passes a right letter.
        specificity: How often it refuses a wrong one.
        heeds: Whether agents heed reports at all.
    """

    name: str
    strengths: tuple[tuple[float, ...], ...]
    fit: float
    misfit: float
    trap: float
    shared: float
    blind: float
    insight: float
    acumen: float
    skill: float
    untraced: float
    sensitivity: float
    specificity: float
    heeds: bool = True

    def strength(self, model: str, niche: str) -> float:
        """Give how often a single agent of a model is right."""
        return self.strengths[NICHES.index(niche)][MODELS.index(model)]


HAND_MADE = Landscape(
    name="hand-made",
    strengths=(
        (0.585, 0.360, 0.455),
        (0.222, 0.400, 0.154),
        (0.607, 0.390, 0.455),
        (0.562, 0.661, 0.452),
    ),
    fit=0.8,
    misfit=-0.2,
    trap=-0.4,
    shared=0.4,
    blind=0.9,
    insight=0.7,
    acumen=0.3,
    skill=0.7,
    untraced=0.5,
    sensitivity=0.8,
    specificity=0.8,
)
"""Strengths as measured: EvoMAS Tables 3 and 4, Single Agent, of three models. The rest is ours."""


def drawn(number: int) -> Landscape:
    """Draw a landscape from `RANGES`; the same for the same number."""
    source = random.Random(f"landscape {number}")  # noqa: S311 - guards nothing
    numbers = _numbers(source)
    columns = [[source.uniform(*RANGES["strengths"]) for _ in NICHES] for _ in MODELS]
    strengths = tuple(zip(*sorted(columns, key=sum, reverse=True), strict=True))
    return Landscape(name=f"drawn {number}", strengths=strengths, **numbers)


def level(number: int) -> Landscape:
    """Draw a landscape in which every team is right equally often, whatever its file says."""
    source = random.Random(f"level {number}")  # noqa: S311 - guards nothing
    numbers: dict[str, Any] = {**_numbers(source), "fit": 0.0, "misfit": 0.0, "trap": 0.0}
    strength = source.uniform(*LEVEL)
    strengths = tuple((strength,) * len(MODELS) for _ in NICHES)
    return Landscape(name=f"level {number}", strengths=strengths, heeds=False, **numbers)


def _numbers(source: random.Random) -> dict[str, Any]:
    ranges = {name: bounds for name, bounds in RANGES.items() if name != "strengths"}
    return {name: source.uniform(*bounds) for name, bounds in ranges.items()}
