"""Candidates: the teams that an episode tried on its task, and their results."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from ...pool.values.statistics import Trial
from ...runtime.agents.outcomes import Run, Score
from ...runtime.values.usage import Usage
from ...schema.edits import Component
from ...schema.team.task import Task
from ...schema.team.team import Lineage, Team


@dataclass(frozen=True, kw_only=True, slots=True)
class Candidate:
    """A team that was tried on a task.

    Attributes:
        number: Its number in the episode, from 0.
        component: The component that its mutation touched; None for other operators.
        sources: The numbers of its parent candidates; empty for a team of the pool or its direct
            child.
        edits: The changes from its first parent, in words.
        member: The name of the equal team in the pool that the task saw; None if it is new.
        runs: Each run with its score, in [0, 1]; a run without an answer scores 0.
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
        """The first run with the lowest score: there is most to learn from it."""
        return min(self.runs, key=lambda pair: pair[1].value)

    @property
    def usage(self) -> Usage:
        """The usage of all its runs."""
        return sum((run.usage for run, _ in self.runs), Usage())

    @property
    def saved(self) -> Usage:
        """The part of the usage that cost nothing, because parents' runs had the answers."""
        return sum((run.saved for run, _ in self.runs), Usage())

    @property
    def executed(self) -> bool:
        """Whether every run reached an answer, without a structural or runtime failure."""
        return all(run.status == "done" for run, _ in self.runs)

    @property
    def is_unbeatable(self) -> bool:
        """Whether no team can have a higher reward: every run succeeded, with a reward of 1.

        No score exceeds 1 and no cost is negative. So if cost counts, a score of 1 can be beaten by
        the same score at a lower cost, unless it cost nothing.
        """
        return self.executed and self.reward >= 1

    @property
    def verdict(self) -> float:
        """The mean score from the task's own scorer, even if a judge sets the reward."""
        return fmean(run.score.value if run.score else 0.0 for run, _ in self.runs)

    @property
    def is_adapted(self) -> bool:
        """Whether it is a team of the pool, changed only by edits that adapt it to the task."""
        return self.lineage.operator == "instantiate" and bool(self.edits)

    def trials(self, task: Task, evolution: str) -> Iterator[Trial]:
        """Yield the trials that the pool keeps, one for each run."""
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
        """Return its entry in the episode's line."""
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
