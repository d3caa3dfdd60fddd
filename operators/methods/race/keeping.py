"""Stores the candidates of a race in the pool, with their lineage and their scores."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ....pool.ledger.changes import Added, Evaluated
from ....pool.values.statistics import Trial
from ....schema.team.team import Lineage

if TYPE_CHECKING:
    from .race import Race
    from .standings import Contender


def keep(running: Race) -> list[str]:
    """Store the candidates in the pool with their scores; return the pool's name of each."""
    stage, names = running.stream.context, list[str]()
    for candidate in running.standings.candidates:
        op = f"{stage.name}/candidate {candidate.number:03d}"
        if candidate.parent is None:
            names.append(stage.pool.duplicate_of(candidate.team) or candidate.team.name)
        else:
            partners = () if candidate.partner is None else (names[candidate.partner],)
            lineage = Lineage(
                operator=f"race_{candidate.kind}",
                parents=(names[candidate.parent], *partners),
                edits=candidate.edits,
                reason=candidate.reason,
                run=stage.name,
            )
            added = Added(member=candidate.team, lineage=lineage)
            names.append(stage.pool.commit(added, op=op).name)
        keep_scores(running, candidate, names[-1], op=f"{op}/slot ")
    return names


def keep_scores(running: Race, candidate: Contender, member: str, *, op: str) -> None:
    """Store a candidate's scores in the pool as trials, each once.

    Args:
        member: The pool's name of its team.
        op: The prefix of the operations' names; the slot follows.
    """
    stage, tasks = running.stream.context, running.split.race
    for slot, score in enumerate(candidate.scores):
        task = tasks[slot % len(tasks)]
        trial = Trial(task=task.id, niche=task.niche or None, score=score, run=stage.name)
        stage.pool.commit(Evaluated(member=member, trial=trial), op=f"{op}{slot:04d}")
