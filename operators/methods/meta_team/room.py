"""How much a team may keep of what it has learnt."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ...core.bounds import Bounds


@dataclass(frozen=True, kw_only=True, slots=True)
class NoteLimits:
    """How much a team may keep. What is there already stays, however much it is.

    Attributes:
        patches: The most patches of an agent.
        skills: The most skills of an agent.
        note: The most characters of a patch, of what is noted of a teammate, and of a rule.
        body: The most characters of a skill's body.
        constitution: The most characters of the constitution.
        read: The most characters that an agent reads ahead of its task: what that costs is paid for
            on every task from then on.
    """

    patches: int = 12
    skills: int = 6
    note: int = 600
    body: int = 4_000
    constitution: int = 4_000
    read: int = 24_000

    def within(self, bounds: Bounds) -> NoteLimits:
        """Narrow the texts to what who is asked may write."""
        most = bounds.characters
        return replace(self, note=min(self.note, most), body=min(self.body, most))
