"""The result of a retrospective for `mas dev op`: the child, and notes on how it was reached."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ....schema.edits import Edit
from ....schema.team.team import Team
from ....schema.values.terminal import on_one_line
from ...core.printed import Noted
from ...core.proposal import Proposal, RejectedProposal
from .evidence.evidence import EvidenceExchange
from .gate import Refused


def noted(
    operator: str,
    base: Team,
    child: Team,
    edits: tuple[Edit, ...],
    *,
    reason: str,
    notes: tuple[str, ...],
) -> Noted:
    """Return the proposal of a child that passed the gate, with notes on how it was reached."""
    proposal = Proposal.of(operator, base, edits, reason=reason, child=child)
    return Noted(proposal=proposal, notes=notes)


def notes_of(
    events: Iterable[str], refused: Sequence[Refused], rejected: Sequence[RejectedProposal]
) -> tuple[str, ...]:
    """Return events, refused edits and rejected answers, one line each."""
    lines = (
        *events,
        *(f"not kept: {edit.what}: {' '.join(edit.reasons)}" for edit in refused),
        *(f"dropped: {answer.operator}: {answer.reason}" for answer in rejected),
    )
    return tuple(map(on_one_line, lines))


def evidence_lines(evidence: Sequence[EvidenceExchange]) -> list[str]:
    """Return an agent's questions to colleagues and their answers, one line each."""
    return [
        f"{exchange.asker} asked {exchange.colleague}: {exchange.question} -"
        f" {exchange.answer or '(nothing of use)'}"
        for exchange in evidence
    ]
