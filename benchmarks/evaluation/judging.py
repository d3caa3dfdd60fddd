"""Scores trials by a judge model."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ...runtime.record.trace import Trace
from ...schema.host.models import DEFAULT_ALIAS
from ...schema.values.errors import ModelError
from .own import JUDGE, is_judged

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ...runtime.agents.outcomes import Run
    from ...runtime.calls.calls import Calls
    from ...runtime.values.budget import Budget
    from ...schema.host.catalogue import Catalogue
    from ...schema.host.models import Model
    from ...schema.team.task import Task


def judge_of(tasks: Sequence[Task], models: Mapping[str, Model]) -> str | None:
    """Return the alias of the judge: `judge` if defined, else the default.

    Args:
        tasks: The tasks. The result is None if no task needs a judge.
    """
    if not any(map(is_judged, tasks)):
        return None
    return JUDGE if JUDGE in models else DEFAULT_ALIAS


@dataclass(frozen=True, kw_only=True, slots=True)
class Judging:
    """A judge model, with its budget."""

    model: str
    catalogue: Catalogue
    calls: Calls
    budget: Budget | None = None

    async def judged(self, run: Run, task: Task, path: str, trace: Trace | None = None) -> Run:
        """Score a run's answer, if any.

        Args:
            task: The task, with the rubric among the options of its scorer.
            path: The judgement's path in the journal.

        Returns:
            The run with its score; if the judge gave none, the run as failed and without its
            answer.
        """
        from ...operators.core.judge import judge
        from ...operators.core.meta import MetaModel
        from ...operators.core.proposal import RejectedProposal
        from ...schema.loading.ceiling import CapabilityPolicy

        if run.answer is None:
            return run
        meta = MetaModel(
            catalogue=self.catalogue,
            ceiling=CapabilityPolicy(),
            calls=self.calls,
            model=self.model,
            budget=self.budget,
            tell=(trace or Trace()).emit,
        )
        rubric = str(task.scorer.options.get("rubric", ""))
        try:
            verdict = await judge(meta, path, task, run.answer, rubric=rubric)
        except ModelError as error:
            return _unscored(run, str(error))
        if isinstance(verdict, RejectedProposal):
            return _unscored(run, verdict.reason)
        return replace(run, score=verdict.score)


def _unscored(run: Run, why: str) -> Run:
    error = f"the judge could not score the answer: {why}"
    return replace(run, status="failed", answer=None, error=error, fault="scorer")
