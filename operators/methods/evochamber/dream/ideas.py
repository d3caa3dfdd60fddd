"""The values between the phases of a dream: differences, ideas, insights (EvoChamber §3.5).

The giver of an insight follows from the difference behind it; no model decides that.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

INSIGHTS = 3
"""The default for the most insights of a dream."""
LONGEST_IDEA = 600
"""The most characters of a diagnosis, a difference or an idea."""
Level = Literal["task", "subdomain", "cross_domain"]
LEVELS: tuple[Level, ...] = ("task", "subdomain", "cross_domain")
"""The scopes of an insight, the narrowest first."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Difference:
    """What a successful member did differently from one that failed.

    Attributes:
        giver: The successful member. Without a success, the failed member, which found its own
            fault.
    """

    giver: str
    failed: str
    text: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Idea:
    """A strategy that may help."""

    text: str
    niches: tuple[str, ...]
    of: Difference


@dataclass(frozen=True, kw_only=True, slots=True)
class Opinion:
    """A member's opinion on an idea."""

    keep: bool
    reason: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Opinions:
    """A member's opinions on all ideas."""

    agent: str
    opinions: tuple[Opinion, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Insight:
    """The result of a dream, with its scope.

    Attributes:
        level: The scope: tasks like this one, a niche, or all tasks.
        niche: The niche; None for all tasks, or if tasks have no niches.
    """

    text: str
    level: Level
    niche: str | None
    of: Difference

    @property
    def kind(self) -> Literal["lesson", "insight"]:
        """The kind of its archive entry."""
        return "insight" if self.level == "cross_domain" else "lesson"
