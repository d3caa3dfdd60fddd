"""An examination: a strategy with its pool's lessons on tasks that it does not learn from.

Its episodes commit nothing, so trials may run in any order. Each sees the pool's initial state; the
task's own scorer scores its result.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ...operators.evolution.episode import Episode, Halted
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
    """An examination in progress.

    Attributes:
        state: The identity of the pool's state and the recipe.
    """

    context: EvolutionContext
    strategy: Strategy
    view: PoolView
    state: str

    @property
    def subject(self) -> str:
        """The strategy with its state."""
        return f"{self.strategy.name} {self.state}"

    async def make_sample(self, task: Task, trial: int, trace: Trace | None = None) -> Sample:
        """Run the strategy on the task."""
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
        """Return the result of an episode with its total cost, without secrets."""
        answer = episode.answer
        if answer is None:
            raise RuntimeError(f"task {episode.task.id} is not finished.")
        spent = episode.run_usage + episode.operators + episode.judging
        run = replace(answer.run, score=answer.score, usage=spent)
        return Sample.of_run(episode.task, trial, run).scrubbed(self.context.scrubber)
