"""Merges: the edits that made one candidate, made in another.

It is a three-way merge, as git's cherry-pick: the common ancestor is whom the first was made of.
Where both decide the same thing they conflict, and there is no child. What only adds to the end of
a prompt conflicts with nothing: it is added in the other team, too.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ....schema.edits import SetPrompt, diff
from ...core.answers import InvalidAnswer, child_of
from ...core.proposal import Proposal

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ....schema.edits import Edit
    from ....schema.host.catalogue import Catalogue
    from ....schema.loading.ceiling import CapabilityPolicy
    from ....schema.team.team import Team
    from .standings import Contender, Matrix, Standings


Merge = tuple["Contender", "Contender", Proposal]
"""The candidate to change, the one whose edit it gets, and the proposal."""


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

    def choose(self, drawn: Matrix) -> Merge | None:
        """Choose the merge that scores most in a draw, and more than every candidate.

        Args:
            drawn: What each step adds, as it was drawn.

        Returns:
            The merge; None: none scores that much, or all of them conflict.
        """
        for base, partner in self.standings.merges(drawn):
            if (proposal := self.merge(base, partner)) is not None:
                return base, partner, proposal
        return None

    def merge(self, base: Contender, partner: Contender) -> Proposal | None:
        """Merge two candidates; None where they conflict, or the child is in the race."""
        pair = base.number, partner.number
        if pair not in self._merged:
            self._merged[pair] = self._merge(base, partner)
        proposal, key = self._merged[pair] or (None, "")
        return None if key in self.standings.hashes else proposal

    def _merge(self, base: Contender, partner: Contender) -> tuple[Proposal, str] | None:
        """Merge two candidates, and return what tells the child from others, too."""
        if not base.is_edit and self._conflicts(base, partner):
            return None
        ancestor = self.standings.candidates[partner.parent or 0].team
        ours, theirs = diff(ancestor, base.team), diff(ancestor, partner.team)
        added = {edit.agent: edit for edit in _additions(theirs, ancestor, base.team)}
        theirs = [added.get(_prompted(edit), edit) for edit in theirs if edit not in ours]
        ours = [edit for edit in ours if _prompted(edit) not in added]
        try:
            child = child_of(ancestor, (*ours, *theirs), self.catalogue, self.ceiling)
        except InvalidAnswer as conflict:
            pair = f"candidates {base.number} and {partner.number}"
            self.conflicts[base.number, partner.number] = f"{pair}: {'; '.join(conflict.problems)}"
            return None
        proposal = Proposal.of(
            "race_merge",
            base.team,
            diff(base.team, child),
            reason=partner.reason,
            child=child,
            others=(partner.team,),
        )
        return proposal, child.content_hash

    def _conflicts(self, merged: Contender, partner: Contender) -> bool:
        """Return whether an edit of a merge conflicts with another, so that all its merges do."""
        for number in sorted(self.standings.edits[merged.number]):
            self.merge(self.standings.candidates[number], partner)
            if (number, partner.number) in self.conflicts:
                return True
        return False


def _prompted(edit: Edit) -> str:
    """Return whose prompt an edit sets; empty: nobody's."""
    return edit.agent if isinstance(edit, SetPrompt) else ""


def _additions(edits: Sequence[Edit], ancestor: Team, base: Team) -> Iterator[SetPrompt]:
    """Yield the edits that only add to the end of a prompt, as they are made in another team."""
    for edit in edits:
        agents = [team.agents.get(_prompted(edit)) for team in (ancestor, base)]
        before, own = (agent and agent.prompt for agent in agents)
        if isinstance(edit, SetPrompt) and before and own and edit.prompt.startswith(before):
            added = edit.prompt.removeprefix(before)
            yield SetPrompt(agent=edit.agent, prompt=own if added in own else own + added)
