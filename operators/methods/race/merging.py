"""Merges two candidates of one ancestor: the edits that led to each, made together."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ....schema.edits import diff
from ...core.answers import InvalidAnswer, child_of
from ...core.proposal import Proposal

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ....schema.host.catalogue import Catalogue
    from ....schema.loading.ceiling import CapabilityPolicy
    from .standings import Candidate, Standings


@dataclass(kw_only=True)
class Merging:
    """Merges candidates, each pair once.

    Attributes:
        standings: The candidates, and what is believed of them.
        catalogue: What names are known.
        ceiling: What a child may ask for at most.
    """

    standings: Standings
    catalogue: Catalogue
    ceiling: CapabilityPolicy
    _merged: dict[tuple[int, int], Proposal | None] = field(
        default_factory=dict[tuple[int, int], "Proposal | None"]
    )

    def of(self, base: Candidate) -> Iterator[Proposal]:
        """Yield the merges of a candidate with others that seem to gain, the best of them first."""
        standings = self.standings
        lineage = {candidate.number for candidate in self._line(base)}
        partners = [
            candidate
            for candidate in standings.running
            if candidate.number not in lineage and standings.base(candidate) is candidate
        ]
        partners.sort(key=lambda candidate: -standings.belief(candidate).mean)
        for partner in partners:
            pair = base.number, partner.number
            if pair not in self._merged:
                self._merged[pair] = self._merge(base, partner)
            if (proposal := self._merged[pair]) is not None:
                yield proposal

    def _merge(self, base: Candidate, partner: Candidate) -> Proposal | None:
        """Merge two candidates; None where one is made of the other, or their edits conflict."""
        lineage = {candidate.number for candidate in self._line(base)}
        line = self._line(partner)
        ancestor = next(candidate for candidate in line if candidate.number in lineage)
        if ancestor is base:
            return None
        edits = diff(ancestor.team, partner.team)
        try:
            child = child_of(base.team, edits, self.catalogue, self.ceiling)
        except InvalidAnswer:
            return None
        reason = f"Both help: {base.reason} {partner.reason}"
        return Proposal.of(
            "race_merge", base.team, edits, reason=reason, child=child, others=(partner.team,)
        )

    def _line(self, candidate: Candidate) -> list[Candidate]:
        """Return a candidate and those that it was made of, up to the original."""
        line = [candidate]
        while (parent := line[-1].parent) is not None:
            line.append(self.standings.candidates[parent])
        return line
