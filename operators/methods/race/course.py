"""The course of a race: the slots in which candidates run, each a task and a repeat."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ....runtime.agents.outcomes import Score
from ....runtime.values.usage import Usage, total
from ...core.scoring import is_judged
from ...evolution.episode import Episode
from .task_trial import TaskTrial

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ....pool.view import PoolView
    from ....schema.team.task import Task
    from ....schema.team.team import Team
    from ...evolution.context import EvolutionContext
    from .standings import Contender

DIGITS = 16


@dataclass(frozen=True, kw_only=True, slots=True)
class RunOutcome:
    """The outcome of a run.

    Attributes:
        trial: The run with its score; None if the judge gave none.
        usage: The usage of its agents, without answers reused from a parent's run.
        saved: The usage that these answers saved.
    """

    trial: TaskTrial | None
    usage: Usage
    saved: Usage


def key_of(candidate: Contender) -> str:
    """Return the key that identifies a candidate's runs in the journal."""
    return candidate.key[:DIGITS]


def repeats(team: Team) -> bool:
    """Return whether a second run on a task may give another answer."""
    asking = (agent for agent in team.agents.values() if team.asks_model(agent))
    return any(agent.temperature != 0 for agent in asking)


def width(team: Team) -> int:
    """Return the largest number of agents that may ask a model at the same time."""
    return max(sum(team.asks_model(team.agents[name]) for name in level) for level in team.levels)


@dataclass(kw_only=True)
class Course:
    """Runs teams on tasks, once in each slot; a resumed race reads the runs that were paid for.

    Attributes:
        name: The path of the runs in the journal.
        tasks: The tasks, in the order of the slots; after the last, they repeat.
        view: The pool, for agents that recall.
        judged_runs: The number of runs so far that a judge scored.
    """

    context: EvolutionContext
    name: str
    tasks: Sequence[Task]
    view: PoolView
    judged_runs: int = 0
    _episodes: dict[int, Episode] = field(default_factory=dict[int, Episode])

    def has_slot(self, candidate: Contender, pending: int = 0) -> bool:
        """Return whether there is a slot in which a candidate has not run.

        Args:
            pending: The number of its runs that are about to start.
        """
        return candidate.repeats or len(candidate.scores) + pending < len(self.tasks)

    async def run(
        self, candidate: Contender, slot: int, relatives: Sequence[Contender] = ()
    ) -> RunOutcome:
        """Run a candidate in a slot, and score its answer.

        Args:
            slot: The number of the slot, from 0.
            relatives: Candidates that have run in this slot, the most similar first: their
                answers are reused for unchanged agents.

        Raises:
            Halted: A provider or a jail failed.
            LimitError: The budget is used up.
        """
        episode, what = self._episode(slot), key_of(candidate)
        run = await episode.run(candidate.team, what, parents=[*map(key_of, relatives)])
        score = await episode.score(run, what)
        self.judged_runs += is_judged(self.context.recipe, episode.task)
        is_scored = isinstance(score, Score)
        trial = TaskTrial(task=episode.task, run=run, score=score) if is_scored else None
        return RunOutcome(trial=trial, usage=run.usage - run.saved, saved=run.saved)

    @property
    def spent(self) -> Usage:
        """The total usage of runs and judging; runs that a limit stopped are included."""
        return total(paid for each in self._episodes.values() for paid in each.paid) + self.judging

    @property
    def judging(self) -> Usage:
        """The total usage of judging."""
        return sum((episode.judging for episode in self._episodes.values()), Usage())

    def _episode(self, slot: int) -> Episode:
        if slot not in self._episodes:
            repeat, place = divmod(slot, len(self.tasks))
            task = self.tasks[place]
            self._episodes[slot] = Episode(
                context=self.context,
                number=slot,
                task=task,
                view=self.view,
                path=f"{self.name}/{task.id}/{repeat}/",
            )
        return self._episodes[slot]
