"""What a dream passes on from phase to phase: differences, ideas, insights (EvoChamber §3.5).

Whose success something comes from follows from the difference that it goes back to, and is never
for a model to say.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

INSIGHTS = 3
"""The most insights of a dream, unless a recipe says otherwise."""
LONGEST_IDEA = 600
"""Characters of a diagnosis, a difference and an idea, at most."""
Level = Literal["task", "subdomain", "cross_domain"]
LEVELS: tuple[Level, ...] = ("task", "subdomain", "cross_domain")
"""How far an insight may reach, the least far first."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Difference:
    """What a member that succeeded did differently from one that failed.

    Attributes:
        giver: Who succeeded. Where nobody did, who failed, and found its own fault.
    """

    giver: str
    failed: str
    text: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Idea:
    """A strategy that may be of use.

    Attributes:
        niches: The kinds of task for which it may be.
    """

    text: str
    niches: tuple[str, ...]
    of: Difference


@dataclass(frozen=True, kw_only=True, slots=True)
class Opinion:
    """What a member thinks of an idea."""

    keep: bool
    reason: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Opinions:
    """What a member thinks of all ideas.

    Attributes:
        opinions: An opinion on each idea, in order.
    """

    agent: str
    opinions: tuple[Opinion, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Insight:
    """The result of a dream, and how far it reaches.

    Attributes:
        level: How far: tasks like this one, a niche, or all tasks.
        niche: The niche; None for all tasks, and where tasks have none.
        of: The difference that it goes back to.
    """

    text: str
    level: Level
    niche: str | None
    of: Difference

    @property
    def kind(self) -> Literal["lesson", "insight"]:
        """The kind of the entry that it becomes."""
        return "insight" if self.level == "cross_domain" else "lesson"
