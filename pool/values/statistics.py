"""Trials of teams, and what they add up to: counts and sums, from which intervals follow."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Annotated, Any, Literal, NamedTuple

from ...runtime.values.usage import COUNT_NAMES, COUNTED, Usage
from ...schema.values.codec import kept
from ...schema.values.errors import InputError
from ...schema.values.values import nothing
from .intervals import wilson

__all__ = [
    "EVOLVE",
    "Kind",
    "Past",
    "Statistics",
    "Sums",
    "Trial",
    "TrialPart",
    "TrialTotals",
    "wilson",
]

EVOLVE = "evolve"
"""The split of the tasks that evolution learns from. Others, such as `test`, are held out."""

Kind = Literal["plain", "adapted", "chosen"]
"""What a trial is of: the team unchanged, what it was adapted to, or its own admission."""

NOTHING = Usage()


@kept(omit=True, closed=True)
class TrialPart:
    """What an agent of the pool did in a trial.

    Attributes:
        share: Its share in the result, in [0, 1], where somebody says so.
    """

    member: str
    share: float | None = None


@kept(omit=True)
class Trial:
    """One run of a team on a task.

    Attributes:
        score: In [0, 1]. None where the run ended without an answer to score: that is no score of
            0, and is counted on its own.
        reward: The score less the cost's share (EvoMAS Eq. 4), where it is known.
        usage: What the run consumed, or would have, had nothing of it been there already.
        saved: The part of it that was not paid, as a parent's run on the task had the answers.
        niche: The task's niche.
        split: The part of the tasks that it is of. Only `evolve` is what evolution learns from.
        run: The run's id or folder.
        reason: Why there is no score.
        chosen: The team is in the pool because of this trial: it won. Of many newcomers the
            luckiest wins, so it says next to nothing about the next trial, and is kept apart.
        adapted: What ran was what an operator made of the team for this task, and not the team as
            it stands. Whether it won or not, it is a fair trial of what the team is adapted to, so
            it is kept apart, too.
        agents: Which agents of the pool worked, by their ids in the team.
        rounds: How many rounds it had.
        structure: What the team was made by, where teams are made of agents: `debate`.

    Not both: what a team was taken in for is a trial of the team itself.

    Raises:
        InputError: The score or the reward is out of range, or it is both chosen and adapted.
    """

    task: str
    score: float | None = None
    reward: float | None = None
    usage: Annotated[Usage, COUNTED] = NOTHING
    saved: Annotated[Usage, COUNTED] = NOTHING
    niche: str | None = None
    split: str = EVOLVE
    run: str | None = None
    reason: str = ""
    chosen: bool = False
    adapted: bool = False
    agents: Mapping[str, TrialPart] = field(default_factory=nothing, hash=False)
    rounds: int = 1
    structure: str | None = None

    def __post_init__(self) -> None:
        if self.score is not None and not 0 <= self.score <= 1:
            raise InputError(
                f"score={self.score!r} on task {self.task!r} is not in [0, 1]. Check its scorer."
            )
        if self.reward is not None and not math.isfinite(self.reward):
            raise InputError(f"reward={self.reward!r} on task {self.task!r} is not a number.")
        if self.chosen and self.adapted:
            raise InputError(f"the trial on task {self.task!r} is both chosen and adapted.")

    @property
    def kind(self) -> Kind:
        """Whether it is chosen, adapted, or plain: then it counts among the team's own."""
        return "chosen" if self.chosen else "adapted" if self.adapted else "plain"


class Sums(NamedTuple):
    """What trials on one task add up to, for what is expected of a team: failures scored 0."""

    n: int = 0
    scores: float = 0
    squares: float = 0

    def after(self, trial: Trial) -> Sums:
        """Take in a trial."""
        score = trial.score or 0
        return Sums(self.n + 1, self.scores + score, self.squares + score**2)


class Past(NamedTuple):
    """What trials on earlier tasks of a niche add up to, of which no task is known any longer.

    Attributes:
        squares: The sum of the squares of these.
        repeats: The sum, over tasks, of the squares of how many trials each had.
    """

    tasks: int = 0
    n: int = 0
    scores: float = 0
    squares: float = 0
    repeats: int = 0

    def after(self, task: Sums) -> Past:
        """Take in all of a task."""
        return Past(
            self.tasks + 1,
            self.n + task.n,
            self.scores + task.scores,
            self.squares + task.squares,
            self.repeats + task.n**2,
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class Statistics:
    """What is known of a team, be it on all tasks, on those of a niche, or on one.

    Attributes:
        n: Evaluations.
        failures: Runs that ended without an answer to score. They are not among the evaluations.
        rewards: Evaluations of which a reward is known.
        chosen: Trials for which it was taken into the pool. They are neither of the above.
        adapted: Trials of what operators made of it for a task. They are none of the above.
        adapted_sum: Sum of their scores, with 0 for those without an answer.
        usage: What all of these consumed.
    """

    n: int = 0
    failures: int = 0
    score_sum: float = 0
    rewards: int = 0
    reward_sum: float = 0
    chosen: int = 0
    chosen_sum: float = 0
    adapted: int = 0
    adapted_sum: float = 0
    usage: Usage = NOTHING

    @property
    def trials(self) -> int:
        """All that is known: evaluations, failures, and trials that are kept apart."""
        return self.n + self.failures + self.adapted + self.chosen

    @property
    def score(self) -> float | None:
        """The mean score, in [0, 1]; None without an evaluation."""
        return self.score_sum / self.n if self.n else None

    @property
    def reward(self) -> float | None:
        """The mean of the rewards that are known."""
        return self.reward_sum / self.rewards if self.rewards else None

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % interval of the mean score."""
        return wilson(self.score_sum, self.n)

    @property
    def cost(self) -> tuple[float, float]:
        """What one evaluation costs: USD, infinite where a price is unknown; and tokens.

        Both are infinite where there was none: what never came to an answer is not cheap.
        """
        share = self.n + self.chosen + self.adapted
        if not share:
            return math.inf, math.inf
        usd = math.inf if self.usage.unpriced_calls else self.usage.usd / share
        return usd, self.usage.tokens / share


FIGURES = tuple(field.name for field in fields(Statistics) if field.name != "usage")


@dataclass(kw_only=True, slots=True)
class TrialTotals:
    """Sums that trials are added to, in place: a pool has too many for new `Statistics` of each.

    Attributes:
        sums: The numbers of `Statistics`, by their names.
        usage: The counts of its usage.
    """

    sums: dict[str, float] = field(default_factory=lambda: dict.fromkeys(FIGURES, 0))
    usage: dict[str, float] = field(default_factory=lambda: dict.fromkeys(COUNT_NAMES, 0))
    _statistics: Statistics | None = field(default=None, compare=False)

    @property
    def statistics(self) -> Statistics:
        """What they add up to now."""
        if self._statistics is None:
            figures: dict[str, Any] = self.sums
            counts: dict[str, Any] = self.usage
            self._statistics = Statistics(**figures, usage=Usage(**counts))
        return self._statistics

    def copy(self) -> TrialTotals:
        """Return sums that stay when trials are added to these."""
        return TrialTotals(sums={**self.sums}, usage={**self.usage})

    def take(self, trial: Trial) -> None:
        """Add a trial."""
        sums, score, kind = self.sums, trial.score, trial.kind
        if kind != "plain":
            sums[kind] += 1
            sums[f"{kind}_sum"] += score or 0
        elif score is None:
            sums["failures"] += 1
        else:
            sums["n"] += 1
            sums["score_sum"] += score or 0
            if trial.reward is not None:
                sums["rewards"] += 1
                sums["reward_sum"] += trial.reward or 0
        trial.usage.add_to(self.usage)
        self._statistics = None
