"""Merges: the edits that made one candidate, made in another.

It is a three-way merge, as git's cherry-pick: the common ancestor is whom the first was made of.
Where both decide the same thing they conflict, and there is no child.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ....schema.edits import diff
from ...core.answers import InvalidAnswer, child_of
from ...core.proposal import Proposal

if TYPE_CHECKING:
    from ....schema.host.catalogue import Catalogue
    from ....schema.loading.ceiling import CapabilityPolicy
    from .standings import Contender, Matrix, Standings


@dataclass(kw_only=True)
class Merging:
    """Merges candidates, each pair once.

    Attributes:
        standings: The candidates, and what is believed of them.
        ceiling: What a child may ask for at most.
        conflicts: Of each pair that conflicts: who it is, and what both decide.
    """

    standings: Standings
    catalogue: Catalogue
    ceiling: CapabilityPolicy
    conflicts: dict[tuple[int, int], str] = field(default_factory=dict[tuple[int, int], str])
    _merged: dict[tuple[int, int], tuple[Proposal, str] | None] = field(
        default_factory=dict[tuple[int, int], "tuple[Proposal, str] | None"]
    )

    def choose(self, base: Contender, drawn: Matrix) -> tuple[Contender, float] | None:
        """Choose the candidate whose edits gain most in a draw if made in another one, too.

        Args:
            drawn: What each step adds, as it was drawn.

        Returns:
            The other candidate, and the gain of its edits in the draw; None if no edits are
            expected to gain, or all of them conflict.
        """
        partners = self.standings.partners(base, drawn)
        return next((pick for pick in partners if self.merge(base, pick[0]) is not None), None)

    def merge(self, base: Contender, partner: Contender) -> Proposal | None:
        """Merge two candidates; None where they conflict, or the child is in the race."""
        pair = base.number, partner.number
        if pair not in self._merged:
            self._merged[pair] = self._merge(base, partner)
        proposal, key = self._merged[pair] or (None, "")
        return None if key in self.standings.hashes else proposal

    def _merge(self, base: Contender, partner: Contender) -> tuple[Proposal, str] | None:
        """Merge two candidates, and return what tells the child from others, too."""
        ancestor = self.standings.candidates[partner.parent or 0].team
        ours = diff(ancestor, base.team)
        theirs = [edit for edit in diff(ancestor, partner.team) if edit not in ours]
        try:
            child = child_of(ancestor, (*ours, *theirs), self.catalogue, self.ceiling)
        except InvalidAnswer as conflict:
            pair = f"candidates {base.number} and {partner.number}"
            self.conflicts[base.number, partner.number] = f"{pair}: {'; '.join(conflict.problems)}"
            return None
        reason = " ".join(("Both help:", base.reason, partner.reason))
        edits = diff(base.team, child)
        proposal = Proposal.of(
            "race_merge", base.team, edits, reason=reason, child=child, others=(partner.team,)
        )
        return proposal, child.content_hash
