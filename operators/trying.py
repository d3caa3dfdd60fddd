"""Runs a team on the task of a turn, as often as the recipe wants, and scores what came of it."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from ..runtime.journal import digest
from ..runtime.outcomes import run_of, run_value
from ..runtime.plan import compile
from ..runtime.scorers import Score
from ..schema.errors import InputError, LimitError, RunError
from .judge import Verdict, judge
from .proposal import Dropped

if TYPE_CHECKING:
    from collections.abc import Coroutine, Mapping, Sequence

    from ..runtime.outcomes import Run
    from ..schema.recipe import Recipe
    from ..schema.task import Task
    from ..schema.team import Team
    from .meta import Meta
    from .stage import Stage

__all__ = ["Halted", "Scored", "Trying", "is_judged", "require_answers", "together"]

Scored = tuple["Run", Score]
"""A run and its score."""

Came = TypeVar("Came")


class Halted(RunError):
    """A provider or a jail failed, which says nothing about any team; the evolution has to wait."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Trying:
    """What it takes to try teams on a task.

    Attributes:
        stage: What the evolution has of this host.
        task: The task.
        path: Where the turn stands in the journal.
        judging: The judge's model, where it is asked.
    """

    stage: Stage
    task: Task
    path: str
    judging: Meta

    async def runs(
        self, team: Team, number: int, *, base: Team | None = None
    ) -> list[Scored] | Dropped:
        """Run a team and score each run; without a score, the first reason why.

        A model that is too slow has to be waited for, and says nothing about a team. But a child
        that gives it less time than its parent did would have to be waited for forever: it is
        dropped.

        Args:
            team: The team.
            number: The how-many-th candidate of its turn it is.
            base: What it is a child of.

        Raises:
            Halted: A provider or a jail failed.
            LimitError: The evolution's budget is used up.
            InputError: The task has no answer to score against.
        """
        places = [self._place(number, one) for one in range(self.stage.recipe.repeats)]
        is_hasty = base is not None and _is_hastier(team, base)
        tried = await together(*(self._try(team, place, is_hasty=is_hasty) for place in places))
        scored = [one for one in tried if not isinstance(one, Dropped)]
        lost = [one for one in tried if isinstance(one, Dropped)]
        return scored or lost[0]

    async def _try(self, team: Team, place: str, *, is_hasty: bool) -> Scored | Dropped:
        run = await self._run(team, place, is_hasty=is_hasty)
        if run.is_infrastructure_failure:
            why = "it gives its model less time than its parent did, and less than that needs."
            return Dropped(operator="run", reason=why)
        scored = await self._scored(run, place)
        return scored if isinstance(scored, Dropped) else (run, scored)

    def _place(self, number: int, repeat: int) -> str:
        again = f"repeat {repeat}/" if repeat else ""
        return f"{self.path}candidate {number}/{again}"

    async def _run(self, team: Team, place: str, *, is_hasty: bool) -> Run:
        """Run a team once; what came of it is journaled whole, so that a restart only reads it."""
        stage, task = self.stage, self.task
        plan = compile(team, stage.catalogue)

        async def work() -> Mapping[str, Any]:
            await stage.services.prepare(plan)
            run = await stage.services.execute(
                plan,
                task,
                journal=stage.journal,
                scrubber=stage.scrubber,
                budget=stage.budget,
                path=place,
            )
            if run.over_budget:
                raise LimitError(str(run.error))
            if run.is_infrastructure_failure and not (is_hasty and run.is_too_slow):
                raise Halted(f"task {task.id}: {run.error}")
            return run_value(run)

        asked = digest(plan.content_hash, task.id, task.query, task.context)
        return run_of(await stage.journal.once(f"{place}outcome", "run", asked, work))

    async def _scored(self, run: Run, place: str) -> Score | Dropped:
        """Score a run as the recipe says; a team that came to no answer has none that is right."""
        recipe = self.stage.recipe
        if run.answer is None:
            return Score(value=0.0, reason=run.error or "it came to no answer.")
        if is_judged(recipe, self.task):
            verdict = await judge(
                self.judging,
                f"{place}judge",
                self.task,
                run.answer,
                rubric=recipe.rubric,
                samples=recipe.judge_samples,
            )
            return verdict.score if isinstance(verdict, Verdict) else verdict
        if run.score is None:
            raise InputError(f"task {self.task.id!r} has no answer to score against.")
        return run.score


def _is_hastier(team: Team, base: Team) -> bool:
    """Tell whether some agent, or the whole team, has less time than in the team it comes from."""
    if team.execution.timeout < base.execution.timeout:
        return True
    longest = base.execution.timeout
    before = {name: one.timeout or longest for name, one in base.agents.items()}
    return any(
        (one.timeout or longest) < before.get(name, longest) for name, one in team.agents.items()
    )


def is_judged(recipe: Recipe, task: Task) -> bool:
    """Tell whether a judge scores a task: always, or where there is no reference answer."""
    return recipe.score == "judge" or (recipe.score == "auto" and task.answer is None)


def require_answers(tasks: Sequence[Task]) -> None:
    """Make sure that every task can be scored by its reference answer.

    Raises:
        InputError: One has none.
    """
    for task in tasks:
        if task.answer is None:
            raise InputError(
                f"task {task.id!r} has no answer to score against. Add one, or write score: auto"
                " in the recipe: then a judge scores it."
            )


async def together(*parts: Coroutine[Any, Any, Came]) -> list[Came]:
    """Do parts side by side, all to their end: one that fails must not cost what others paid for.

    Raises:
        BaseException: What the first of them raised.
    """
    came: list[Came] = []
    for one in await asyncio.gather(*parts, return_exceptions=True):
        if isinstance(one, BaseException):
            raise one
        came.append(one)
    return came
