"""An evaluation: a team on the tasks of a benchmark, with parallel trials."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from ...schema.values.errors import InputError, LimitError
from .own import is_judged
from .samples import Sample
from .trials import Trials, path_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ...runtime.plan.plan import Plan
    from ...runtime.record.trace import Trace
    from ...runtime.runs.services import Services
    from ...runtime.scoring.form_check import FormCheck
    from ...runtime.scrubbing.scrubber import Scrubber
    from ...runtime.values.budget import Budget
    from ...schema.team.task import Task
    from .judging import Judging
    from .logs import Logs

JUDGED = "the judge"
"""The journal path of judgements, under which results report their cost; no agent has this name."""


@dataclass(kw_only=True, eq=False)
class Evaluation(Trials):
    """An evaluation of a team in progress.

    Attributes:
        judging: Scores tasks that need a judge; None without such tasks.
        logs: Stores scorers' logs of trials and agents' files; None: nothing is stored.
        forms: Stops work if the scorer cannot read answers; None: it never stops.
        earlier: Seconds that earlier processes spent on trials, by path.
    """

    plan: Plan
    services: Services
    budget: Budget | None = None
    scrubber: Scrubber
    judging: Judging | None = None
    logs: Logs | None = None
    forms: FormCheck | None = None
    earlier: Mapping[str, float] = field(default_factory=dict[str, float])

    @property
    def subject(self) -> str:
        """The team's hash."""
        return self.plan.content_hash

    async def make_sample(self, task: Task, trial: int, trace: Trace | None = None) -> Sample:
        """Run the team.

        Raises:
            LimitError: The budget is used up.
            InputError: A key, an address or a model's name is refused, and nothing was spent yet.
        """
        judging = self.judging if is_judged(task) else None
        run = await self.services.execute(
            self.plan,
            task if judging is None else replace(task, answer=None),
            journal=self.journal,
            scrubber=self.scrubber,
            trace=trace,
            budget=self.budget,
            path=path_of(task, trial),
            keep=None if self.logs is None else self.logs.files(task.id, trial),
        )
        if run.over_budget:
            raise LimitError(str(run.error))
        if run.is_misconfigured and self.budget and not self.budget.spent.calls:
            raise InputError(f"task {task.id}: {run.why_failed}")
        if self.forms is not None:
            self.forms.take(task, run)  # a judge's score comes later
        if judging is not None:
            run = await judging.judged(run, task, f"{path_of(task, trial)}{JUDGED}", trace)
        if self.logs is not None:
            self.logs.keep(task.id, trial, run.score.log if run.score else "")
        sample = Sample.of_run(task, trial, run)
        seconds = round(sample.seconds + self.earlier.get(path_of(task, trial), 0.0), 3)
        return replace(sample, seconds=seconds).scrubbed(self.scrubber)
