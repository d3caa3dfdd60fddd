"""Candidates: teams that were tried on a task, and the result."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from ...pool.values.statistics import Trial
from ...runtime.agents.outcomes import Run
from ...runtime.values.score import Score
from ...runtime.values.usage import Usage
from ...schema.edits import Component
from ...schema.team.task import Task
from ...schema.team.team import Lineage, Team


@dataclass(frozen=True, kw_only=True, slots=True)
class Candidate:
    """A team that was tried on a task.

    Attributes:
        number: The how-many-th of its episode, from 0.
        component: What its mutation touched; None for other operators.
        sources: The numbers of the candidates that it was made of; none, where it is a team of the
            pool or was made of one.
        edits: What an operator changed about its first parent, in words.
        member: What the pool that the task saw calls a team that is equal to it; None: it is new.
        runs: The result, each time with its score, in [0, 1]; without an answer, that is 0.
        rewards: score - beta * cost (EvoMAS Eq. 4) of each run.
    """

    number: int
    team: Team
    lineage: Lineage
    component: Component | None = None
    sources: tuple[int, ...] = ()
    edits: tuple[str, ...] = ()
    member: str | None = None
    runs: Sequence[tuple[Run, Score]]
    rewards: Sequence[float]

    @property
    def score(self) -> float:
        """The mean score of its runs, in [0, 1]."""
        return fmean(score.value for _, score in self.runs)

    @property
    def reward(self) -> float:
        """The mean reward of its runs."""
        return fmean(self.rewards)

    @property
    def worst(self) -> tuple[Run, Score]:
        """The run with the lowest score, the first of them: there is most to learn from it."""
        return min(self.runs, key=lambda pair: pair[1].value)

    @property
    def usage(self) -> Usage:
        """What its runs consumed."""
        return sum((run.usage for run, _ in self.runs), Usage())

    @property
    def saved(self) -> Usage:
        """The part of it that was not paid, as runs of its parents had the answers."""
        return sum((run.saved for run, _ in self.runs), Usage())

    @property
    def executed(self) -> bool:
        """Whether it always ran to an answer, without a structural or runtime failure."""
        return all(run.status == "done" for run, _ in self.runs)

    @property
    def is_unbeatable(self) -> bool:
        """Whether no team can have a higher reward on its task: it always ran, with a reward of 1.

        No score is above 1 and no cost below 0. So where cost counts, a score of 1 can be beaten by
        the same score at a lower cost, unless it cost nothing.
        """
        return self.executed and self.reward >= 1

    @property
    def verdict(self) -> float:
        """What the task's own scorer says, whoever scored it; 0 where there was no answer."""
        return fmean(run.score.value if run.score else 0.0 for run, _ in self.runs)

    @property
    def is_adapted(self) -> bool:
        """Whether it is a team of the pool under edits that adapt it to the task, and no more."""
        return self.lineage.operator == "instantiate" and bool(self.edits)

    def trials(self, task: Task, evolution: str) -> Iterator[Trial]:
        """Yield what the pool keeps of it: a trial for each run."""
        for (run, score), reward in zip(self.runs, self.rewards, strict=True):
            yield Trial(
                task=task.id,
                niche=task.niche or None,
                score=score.value,
                reward=reward,
                usage=run.usage,
                saved=run.saved,
                run=evolution,
            )

    def value(self) -> dict[str, Any]:
        """Return what the evolution's record has of it."""
        return {
            "number": self.number,
            "operator": self.lineage.operator,
            "component": self.component,
            "parents": list(self.lineage.parents),
            "sources": list(self.sources),
            "edits": list(self.edits),
            "reason": self.lineage.reason,
            "member": self.member,
            "runs": len(self.runs),
            "executed": self.executed,
            "score": self.score,
            "verdict": self.verdict if any(run.score for run, _ in self.runs) else None,
            "reward": self.reward,
            "usage": self.usage.value(),
            **({} if self.saved == Usage() else {"saved": self.saved.value()}),
        }
