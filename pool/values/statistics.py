"""Trials of teams and their totals: counts and sums, from which intervals follow."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from typing import Annotated, Any, Literal, NamedTuple

from ...runtime.values.usage import COUNT_NAMES, COUNTED, Usage, add_usage
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
        kind_of(vars(self))

    @property
    def kind(self) -> Kind:
        """Whether it is chosen, adapted, or plain, which counts as the team's own."""
        return kind_of(vars(self))


def kind_of(trial: Mapping[str, Any]) -> Kind:
    """Return the kind of a trial in its plain form: a pool has too many to build a value for each.

    Raises:
        InputError: As `Trial` does.
    """
    score, reward = trial.get("score"), trial.get("reward")
    is_chosen, is_adapted = trial.get("chosen"), trial.get("adapted")
    if score is not None and not 0 <= score <= 1:
        raise InputError(
            f"score={score!r} on task {trial['task']!r} is not in [0, 1]. Check its scorer."
        )
    if reward is not None and not math.isfinite(reward):
        raise InputError(f"reward={reward!r} on task {trial['task']!r} is not a number.")
    if is_chosen and is_adapted:
        raise InputError(f"the trial on task {trial['task']!r} is both chosen and adapted.")
    return "chosen" if is_chosen else "adapted" if is_adapted else "plain"


_new: Any = tuple.__new__
"""Makes a named tuple in a third of the time: a pool has a million."""


class Sums(NamedTuple):
    """The totals of trials on one task, for a team's expected score: failures scored 0."""

    n: int = 0
    scores: float = 0
    squares: float = 0

    def after(self, score: float) -> Sums:
        """Return the totals with another trial."""
        n, scores, squares = self
        return _new(Sums, (n + 1, scores + score, squares + score**2))


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
        (tasks, n, scores, squares, repeats), (trials, more, squared) = self, task
        repeats += trials * trials
        return _new(Past, (tasks + 1, n + trials, scores + more, squares + squared, repeats))


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


SUM_OF: Mapping[Kind, str] = {"chosen": "chosen_sum", "adapted": "adapted_sum"}
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

    def take(self, trial: Mapping[str, Any], kind: Kind = "plain") -> None:
        """Add a trial of a kind, in its plain form."""
        sums, score = self.sums, trial.get("score")
        if kind != "plain":
            sums[kind] += 1
            sums[SUM_OF[kind]] += score or 0
        elif score is None:
            sums["failures"] += 1
        else:
            sums["n"] += 1
            sums["score_sum"] += score
            if (reward := trial.get("reward")) is not None:
                sums["rewards"] += 1
                sums["reward_sum"] += reward
        if usage := trial.get("usage"):
            add_usage(usage, self.usage)
        self._statistics = None
