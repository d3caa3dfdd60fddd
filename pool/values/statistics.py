"""Trials of teams and their totals: counts and sums, from which intervals follow."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from typing import Annotated, Any, Literal, NamedTuple

from ...runtime.values.usage import COUNT_NAMES, COUNTED, Usage
from ...schema.values.codec import stored
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
"""The kind of a trial: of the team unchanged, of its adaptation, or for its own admission."""

NOTHING = Usage()


@stored(omit=True, closed=True)
class TrialPart:
    """An agent's part in a trial.

    Attributes:
        share: Its share of the result, in [0, 1], if known.
    """

    member: str
    share: float | None = None


@stored(omit=True)
class Trial:
    """One run of a team on a task.

    Attributes:
        score: In [0, 1]. None if the run ended without an answer to score. This is counted
            separately, not as a score of 0.
        reward: The score less the cost's share (EvoMAS Eq. 4), if known.
        usage: What the run consumed, or would have consumed without reused answers.
        saved: The part of it that was not paid, because a parent's run on the task had the answers.
        split: The task's split. Evolution learns only from `evolve`.
        run: The run's id or folder.
        reason: Why there is no score.
        chosen: Whether the team was admitted to the pool because it won this trial. Among many
            newcomers the luckiest wins, so it hardly predicts the next trial, and is counted
            separately.
        adapted: Whether the team was first adapted to this task by an operator. Whether it won or
            not, it is a fair trial of the adapted team, so it is counted separately too.
        agents: The agents of the pool that took part, by their ids in the team.
        structure: The structure of a team composed of agents: `debate`.

    A trial is not both chosen and adapted: a team's admission is a trial of the team itself.

    Raises:
        InputError: The score or the reward is out of range, or the trial is both chosen and
            adapted.
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
        """Whether it is chosen, adapted, or plain, which counts as the team's own."""
        return "chosen" if self.chosen else "adapted" if self.adapted else "plain"


class Sums(NamedTuple):
    """The totals of trials on one task, for a team's expected score: failures scored 0."""

    n: int = 0
    scores: float = 0
    squares: float = 0

    def after(self, trial: Trial) -> Sums:
        """Return the totals with another trial."""
        score = trial.score or 0
        return Sums(self.n + 1, self.scores + score, self.squares + score**2)


class Past(NamedTuple):
    """The totals of trials on earlier tasks of a niche, without their single tasks.

    Attributes:
        squares: The sum of squared scores.
        repeats: The sum, over tasks, of the squared number of trials.
    """

    tasks: int = 0
    n: int = 0
    scores: float = 0
    squares: float = 0
    repeats: int = 0

    def after(self, task: Sums) -> Past:
        """Return the totals with another task."""
        return Past(
            self.tasks + 1,
            self.n + task.n,
            self.scores + task.scores,
            self.squares + task.squares,
            self.repeats + task.n**2,
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class Statistics:
    """The statistics of a team, on all tasks, on those of a niche, or on one.

    Attributes:
        n: The number of evaluations.
        failures: The number of runs without an answer to score. They are no evaluations.
        rewards: The number of evaluations with a known reward.
        chosen: The number of trials that led to its admission, counted separately.
        adapted: The number of trials of its adaptations by operators, counted separately.
        adapted_sum: The sum of their scores, with 0 for those without an answer.
        usage: The consumption of all of these.
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
        """The number of all trials: evaluations, failures, and those counted separately."""
        return self.n + self.failures + self.adapted + self.chosen

    @property
    def score(self) -> float | None:
        """The mean score, in [0, 1]; None without an evaluation."""
        return self.score_sum / self.n if self.n else None

    @property
    def reward(self) -> float | None:
        """The mean of the known rewards."""
        return self.reward_sum / self.rewards if self.rewards else None

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % interval of the mean score."""
        return wilson(self.score_sum, self.n)

    @property
    def cost(self) -> tuple[float, float]:
        """The cost of one evaluation: USD, infinite if a price is unknown; and tokens.

        Both are infinite without an evaluation: a team that never answered is not cheap.
        """
        share = self.n + self.chosen + self.adapted
        if not share:
            return math.inf, math.inf
        usd = math.inf if self.usage.unpriced_calls else self.usage.usd / share
        return usd, self.usage.tokens / share


FIGURES = tuple(field.name for field in fields(Statistics) if field.name != "usage")


@dataclass(kw_only=True, slots=True)
class TrialTotals:
    """Mutable totals of trials: a pool has too many for a new `Statistics` each.

    Attributes:
        sums: The numbers of `Statistics`, by name.
        usage: The counts of its usage.
    """

    sums: dict[str, float] = field(default_factory=lambda: dict.fromkeys(FIGURES, 0))
    usage: dict[str, float] = field(default_factory=lambda: dict.fromkeys(COUNT_NAMES, 0))
    _statistics: Statistics | None = field(default=None, compare=False)

    @property
    def statistics(self) -> Statistics:
        """The current totals as `Statistics`."""
        if self._statistics is None:
            figures: dict[str, Any] = self.sums
            counts: dict[str, Any] = self.usage
            self._statistics = Statistics(**figures, usage=Usage(**counts))
        return self._statistics

    def copy(self) -> TrialTotals:
        """Return an independent copy."""
        return TrialTotals(sums={**self.sums}, usage={**self.usage})

    @classmethod
    def merged(cls, parts: Iterable[TrialTotals]) -> TrialTotals:
        """Return the totals of all trials of several totals."""
        whole = cls()
        for part in parts:
            for name, figure in part.sums.items():
                whole.sums[name] += figure
            for name, count in part.usage.items():
                whole.usage[name] += count
        return whole

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
