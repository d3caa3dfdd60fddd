"""Worlds in which the worth of every team is known: how often it is right on any task."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import random

FOUNDERS = 3
UNCHANGED = 0.5
"""How often a team that is to be adapted to a task is left as it is."""
LEAST, MOST = 0.02, 0.98
WORTH = re.compile(r"Worth (\d\.\d{6}), kind \d+\.")


@dataclass(frozen=True, kw_only=True, slots=True)
class World:
    """A world.

    Attributes:
        name: What tables call it.
        founders: The standard deviation of what founders are worth; their mean is 0.4.
        gain: What a child is worth more than its parent, on average.
        spread: The standard deviation of that.
        puzzles: How many a task has; its score is the share that is right.
    """

    name: str
    founders: float = 0.0
    gain: float = 0.0
    spread: float = 0.0
    puzzles: int = 1

    def score(self, worth: float, chance: random.Random) -> float:
        """Draw what a team scores that is worth so much."""
        return sum(chance.random() < worth for _ in range(self.puzzles)) / self.puzzles

    def founder(self, chance: random.Random) -> float:
        """Draw what a founder is worth."""
        return _within(chance.gauss(0.4, self.founders))

    def child(self, parent: float, chance: random.Random) -> float:
        """Draw what a child is worth."""
        return _within(chance.gauss(parent + self.gain, self.spread))


WORLDS = (
    World(name="null"),
    World(name="differing", founders=0.1, gain=0.0, spread=0.05),
    World(name="improving", founders=0.1, gain=0.02, spread=0.1),
    World(name="worsening", founders=0.1, gain=-0.05, spread=0.05),
    World(name="null, by degrees", puzzles=20),
    World(name="differing, by degrees", founders=0.1, gain=0.0, spread=0.05, puzzles=20),
)


def prompt_of(worth: float, kind: int) -> str:
    """Write the prompt of an agent that is worth so much; teams of another kind are other teams."""
    return f"Answer the question. Worth {worth:.6f}, kind {kind}."


def worth_of(prompt: str) -> float:
    """Read what an agent is worth off its prompt.

    Raises:
        ValueError: It does not say.
    """
    result = WORTH.search(prompt)
    if result is None:
        raise ValueError(f"this prompt says no worth: {prompt!r}")
    return float(result[1])


def _within(worth: float) -> float:
    return min(MOST, max(LEAST, worth))
