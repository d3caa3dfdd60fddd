"""Merges two candidates of one ancestor: the edits that led to each, made together."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ....schema.edits import diff
from ...core.answers import InvalidAnswer, child_of
from ...core.proposal import Proposal

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ....schema.host.catalogue import Catalogue
    from ....schema.loading.ceiling import CapabilityPolicy
    from .standings import Candidate, Standings

__all__ = ["merges"]


def merges(
    standings: Standings, base: Candidate, catalogue: Catalogue, ceiling: CapabilityPolicy
) -> Iterator[Proposal]:
    """Give the merges of a candidate with others that seem to gain, the best of them first.

    Edits that decide the same thing are in conflict: there is no merge of these.
    """
    lineage = {candidate.number for candidate in ancestors(standings, base)}
    partners = [
        candidate
        for candidate in standings.running
        if candidate.number not in lineage and standings.base(candidate) is candidate
    ]
    partners.sort(key=lambda candidate: -standings.belief(candidate).mean)
    for partner in partners:
        line = ancestors(standings, partner)
        ancestor = next(candidate for candidate in line if candidate.number in lineage)
        if ancestor is partner or ancestor is base:
            continue
        edits = diff(ancestor.team, partner.team)
        try:
            child = child_of(base.team, edits, catalogue, ceiling)
        except InvalidAnswer:
            continue
        reason = f"Both help: {base.reason} {partner.reason}"
        yield Proposal.of(
            "race_merge", base.team, edits, reason=reason, child=child, others=(partner.team,)
        )


def ancestors(standings: Standings, candidate: Candidate) -> list[Candidate]:
    """Return a candidate and those that it was made of, up to the original."""
    line = [candidate]
    while (parent := line[-1].parent) is not None:
        line.append(standings.candidates[parent])
    return line
