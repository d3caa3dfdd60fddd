"""Limits of the notes that a team may keep."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ...core.bounds import Bounds


@dataclass(frozen=True, kw_only=True, slots=True)
class NoteLimits:
    """Limits of the notes that a team may keep. Existing notes stay, even above the limits.

    Attributes:
        patches: The most patches of an agent.
        skills: The most skills of an agent.
        note: The most characters of a patch, of a note on a teammate, and of a rule.
        body: The most characters of a skill's body.
        constitution: The most characters of the constitution.
        read: The most characters that an agent reads before its task; every later task pays for
            them.
    """

    patches: int = 12
    skills: int = 6
    note: int = 600
    body: int = 4_000
    constitution: int = 4_000
    read: int = 24_000

    def within(self, bounds: Bounds) -> NoteLimits:
        """Return the limits, lowered to the longest text that the model may write."""
        most = bounds.characters
        return replace(self, note=min(self.note, most), body=min(self.body, most))
