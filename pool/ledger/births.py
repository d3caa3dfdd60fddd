"""Teams, or agents, that were ever born, and which of them were not retired."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from .records import TrialRecord

if TYPE_CHECKING:
    from collections.abc import Mapping

One = TypeVar("One", bound=TrialRecord)
"""Teams, or agents."""


class Births(dict[str, One]):
    """Teams, or agents, that were ever born, by name, in the order of their births."""

    def __init__(self) -> None:
        super().__init__()
        self._live: dict[str, One] = {}
        self._is_lent = self._is_late = False

    @property
    def live(self) -> Mapping[str, One]:
        """Those that were not retired, in the same order. Whoever has it keeps it as it is."""
        if self._is_late:  # once after many that came back, not once after each
            self._live = {name: member for name, member in self.items() if member.retired is None}
        self._is_lent, self._is_late = True, False
        return self._live

    def bear(self, newcomer: One) -> None:
        """Add a newcomer after all that are there."""
        self[newcomer.name] = newcomer
        if newcomer.retired is None:
            self._own()[newcomer.name] = newcomer

    def retire(self, member: One, reason: str | None) -> None:
        """Let a member be none any longer, for a reason; without one, let it be one again."""
        if reason is not None:
            self._own().pop(member.name, None)
        elif member.retired is not None:
            self._is_late = True
        member.retired = reason

    def _own(self) -> dict[str, One]:
        """Return the living to change them: a copy where somebody has the others."""
        if self._is_lent:
            self._live, self._is_lent = {**self._live}, False
        return self._live
