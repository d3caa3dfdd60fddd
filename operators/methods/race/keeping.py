"""Keeps the candidates of a race in the pool, with their lineage and their scores."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ....pool.ledger.changes import Added, Evaluated
from ....pool.values.statistics import Trial
from ....schema.team.team import Lineage

if TYPE_CHECKING:
    from .race import Race

__all__ = ["keep"]


def keep(running: Race) -> list[str]:
    """Keep the candidates in the pool, with their scores; return what the pool calls each."""
    stage, names = running.stream.stage, list[str]()
    for candidate in running.standings.candidates:
        op = f"{stage.name}/candidate {candidate.number:03d}"
        if candidate.parent is None:
            names.append(stage.pool.twin_of(candidate.team) or candidate.team.name)
        else:
            lineage = Lineage(
                operator=f"race_{candidate.kind}",
                parents=(names[candidate.parent],),
                edits=candidate.edits,
                reason=candidate.reason,
                run=stage.name,
            )
            added = Added(member=candidate.team, lineage=lineage)
            names.append(stage.pool.commit(added, op=op).name)
        for slot, score in enumerate(candidate.scores):
            task = running.split.race[slot % len(running.split.race)]
            trial = Trial(task=task.id, niche=task.niche or None, score=score, run=stage.name)
            stage.pool.commit(Evaluated(member=names[-1], trial=trial), op=f"{op}/slot {slot:04d}")
    return names
