"""An examination: a strategy with what its pool has learnt, on tasks of which nothing is learnt.

Trials are of episodes that commit nothing, so they may be made in any order. Each sees the pool as
it was at the beginning; its result is scored by the task's own scorer.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ...operators.evolution.episode import Episode, Halted
from ...schema.values.codec import to_value
from ...schema.values.json_text import dumps, loads
from .samples import Sample
from .trials import Trials, path_of

if TYPE_CHECKING:
    from ...operators.evolution.context import EvolutionContext
    from ...operators.evolution.strategy import Strategy
    from ...pool.view import PoolView
    from ...runtime.record.trace import Trace
    from ...schema.team.task import Task


@dataclass(kw_only=True, eq=False)
class Examination(Trials):
    """An examination on its way.

    Attributes:
        context: What there is of this host.
        state: What tells this state of the pool, and this recipe, from others.
    """

    context: EvolutionContext
    strategy: Strategy
    view: PoolView
    state: str

    @property
    def subject(self) -> str:
        """The strategy with what it has learnt."""
        return f"{self.strategy.name} {self.state}"

    async def make_sample(self, task: Task, trial: int, trace: Trace | None = None) -> Sample:
        """Have the strategy do the task."""
        episode = Episode(
            context=self.context,
            number=trial - 1,
            task=task,
            view=self.view,
            learning=False,
            path=path_of(task, trial),
            trace=trace,
        )
        try:
            await self.strategy.episode(episode)
            await episode.finish()
        except Halted as error:
            return Sample(task=task.id, trial=trial, status="unscored", error=str(error))
        return self._sample(episode, trial)

    def _sample(self, episode: Episode, trial: int) -> Sample:
        """Return the result of an episode, at the cost of all that was done; without secrets."""
        answer = episode.answer
        if answer is None:
            raise RuntimeError(f"task {episode.task.id} is not finished.")
        spent = episode.run_usage + episode.operators + episode.judging
        run = replace(answer.run, score=answer.score, usage=spent)
        sample = Sample.of_run(episode.task, trial, run)
        line = self.context.scrubber(dumps(to_value(sample), ensure_ascii=False))
        return Sample.of_value(loads(line))
