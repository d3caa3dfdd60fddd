"""All teams, or agents, of a pool, and those that are not retired."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from .records import TrialRecord

if TYPE_CHECKING:
    from collections.abc import Mapping

MemberT = TypeVar("MemberT", bound=TrialRecord)
"""A team, or an agent."""


class Births(dict[str, MemberT]):
    """All teams, or agents, by name, in the order of their births."""

    def __init__(self) -> None:
        super().__init__()
        self._live: dict[str, MemberT] = {}
        self._is_lent = self._is_late = False

    @property
    def live(self) -> Mapping[str, MemberT]:
        """The ones that are not retired, in the same order. This mapping never changes."""
        if self._is_late:  # once after many restorations, not after each
            self._live = {name: member for name, member in self.items() if member.retired is None}
        self._is_lent, self._is_late = True, False
        return self._live

    def bear(self, newcomer: MemberT) -> None:
        """Add a newcomer at the end."""
        self[newcomer.name] = newcomer
        if newcomer.retired is None:
            self._own()[newcomer.name] = newcomer

    def retire(self, member: MemberT, reason: str | None) -> None:
        """Retire a member for a reason; without a reason, restore it."""
        if reason is not None:
            self._own().pop(member.name, None)
        elif member.retired is not None:
            self._is_late = True
        member.retired = reason

    def _own(self) -> dict[str, MemberT]:
        """Return the living for changes: a copy if `live` has handed them out."""
        if self._is_lent:
            self._live, self._is_lent = {**self._live}, False
        return self._live
