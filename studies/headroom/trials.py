"""Runs the teams of a pool on tasks and keeps what they scored in the pool."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

from coterie.pool.ledger.changes import Evaluated
from coterie.pool.values.statistics import Trial
from coterie.runtime.plan.plan import compile
from coterie.schema.edits import RejectedEdits, apply
from coterie.schema.team.team import Lineage
from coterie.schema.values.errors import ConfigError, RunError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from coterie.benchmarks.streams.tasks import Split
    from coterie.pool.teams.pool import Pool
    from coterie.runtime.runs.services import Services
    from coterie.schema.team.task import Task

    from .candidates import Candidate

AT_ONCE = 4
"""What the embedded model serves at once."""


def adopt(pool: Pool, seed: str, candidates: Sequence[Candidate]) -> list[str]:
    """Make a child of a seed by each candidate's edits, and name the children.

    Raises:
        ConfigError: Edits make no team.
        StorageError: The pool cannot be written, or is damaged.
    """
    names: list[str] = []
    for candidate in candidates:
        child = apply(pool.member(seed).team, candidate.edits, pool.catalogue)
        if isinstance(child, RejectedEdits):
            raise ConfigError(child.problems)
        born = Lineage(operator="scripted", parents=(seed,), reason=candidate.reason)
        names.append(pool.add(child, born, op=f"adopt/{candidate.name}", name=candidate.name).name)
    return names


@dataclass(frozen=True, kw_only=True, slots=True)
class Trials:
    """Trials of a pool's teams on tasks. A pool that has a trial already is not asked for it again.

    Attributes:
        pool: Where the teams are, and where trials are kept.
        services: What runs need.
    """

    pool: Pool
    services: Services

    async def scores(self, name: str, tasks: Sequence[Task], split: Split) -> list[float]:
        """Return what a team scores on each task: 1 or 0, and 0 where it gives no answer.

        Raises:
            RunError: A provider failed, which says nothing about the team.
            StorageError: The pool cannot be written.
        """
        turns = asyncio.Semaphore(AT_ONCE)

        async def one(task: Task) -> float:
            known = self.pool.member(name).on_task(task.id)
            if known is not None and known.score is not None:
                return known.score
            async with turns:
                return await self._try(name, task, split)

        # All of them end: a failure must not cost the trials that were under way.
        result = await asyncio.gather(*map(one, tasks), return_exceptions=True)
        for failure in result:
            if isinstance(failure, BaseException):
                raise failure
        return [score for score in result if not isinstance(score, BaseException)]

    async def _try(self, name: str, task: Task, split: Split) -> float:
        plan = compile(self.pool.member(name).team, self.pool.catalogue)
        await self.services.prepare(plan)
        run = await self.services.execute(plan, task)
        if run.is_infrastructure_failure:
            raise RunError(f"task {task.id}: {run.error}")
        score = run.score.value if run.score else 0.0
        trial = Trial(task=task.id, niche=task.niche, split=split, score=score, usage=run.usage)
        self.pool.commit(Evaluated(member=name, trial=trial), op=f"{split}/{name}/{task.id}")
        return score
