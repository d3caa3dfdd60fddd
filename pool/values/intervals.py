"""Intervals of figures over tasks, each tried once or several times, in one niche or in many.

Tasks are the sample. A team's trials of one task are similar, so 20 tasks with five trials each
carry more information than 20 trials and less than 100; the scores show how much more. They give an
effective number of tasks, and the interval is Wilson's for that number, as in surveys with clusters
(Korn and Graubard 1998; Franco et al. 2019). It never has zero width: three successes in three
trials do not prove certain success. For single trials scored 0 or 1, in one niche, it is exactly
Wilson's interval. `python -m studies.intervals` measures the coverage of the intervals.
"""

from __future__ import annotations

import math
import random
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .student import t_quantile

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    Scores = Mapping[str, Sequence[float]]
    Figure = Callable[[Scores], float]

Interval = tuple[float, float]

Z = 1.959964
"""The normal quantile of a 95 % interval."""

UNSEEN = 0.12
"""How many tasks, half of them at 0 and half at 1, represent the variation that a small sample did
not show. The value was chosen for the resulting coverage: smaller ones are too small for skewed
scores, larger ones too large for graded scores that vary little."""

BORROWED = 2.0
"""How many tasks' worth of variance a niche borrows from all niches."""

DRAWS = 1_000
"""The number of draws for the interval of a figure that is no weighted mean."""

ALIKE = 1e-6
"""The maximum difference between the slopes of a weighted mean, which allows for rounding."""

STEP = 1e-3
MOST_SHARE = 0.99
LEAST_SHARE = 1e-4


def wilson(total: float, n: float) -> Interval:
    """Return Wilson's 95 % interval of the mean of `n` scores in [0, 1] with this sum.

    It is Wilson's interval for scores of 0 and 1. Other scores with the same mean vary less, so for
    them it is wider than necessary, never too narrow.
    """
    if n == 0:
        return 0.0, 1.0
    mean = min(1.0, max(0.0, total / n))
    middle = mean + Z**2 / (2 * n)
    reach = Z * math.sqrt(mean * (1 - mean) / n + Z**2 / (4 * n**2))
    scale = 1 + Z**2 / n
    low, high = (middle - reach) / scale, (middle + reach) / scale
    return max(0.0, min(mean, low)), min(1.0, max(mean, high))


def mean_interval(tasks: Sequence[Sequence[float]]) -> Interval:
    """Return the 95 % interval of the mean over tasks.

    Args:
        tasks: The scores of each task's trials, in [0, 1]; at least one of each.
    """
    return figure_interval({"": tasks})


def paired_interval(differences: Sequence[float], *, level: float = 0.95) -> Interval:
    """Return the interval of the mean difference between two teams on the same tasks.

    Two tasks are added, one won by each team: tasks with equal scores do not show that the teams
    are always equal (Agresti and Min 2005, for binary outcomes). So the width is never zero. The
    variance is estimated from few tasks, so the interval uses Student's t.

    Args:
        differences: The second team's score minus the first's on each task, in [-1, 1]; at least
            one.
        level: The probability with which it covers the true mean, from 0.95 to below 1.
    """
    n = len(differences) + 2
    mean = sum(differences) / n
    variance = (sum(difference**2 for difference in differences) + 2) / n - mean**2
    reach = t_quantile(n - 1, level) * math.sqrt(variance / n)
    return max(-1.0, mean - reach), min(1.0, mean + reach)


def figure_interval(
    niches: Mapping[str, Sequence[Sequence[float]]], figure: Figure | None = None
) -> Interval:
    """Return the 95 % interval of a figure over niches; it contains the figure itself.

    The niches are fixed, so only variation within them is chance. A niche of one task shows none:
    it borrows the variance of the others. If all niches have one task, the variation between them
    counts as chance.

    Args:
        niches: The scores of each task's trials, in [0, 1], by niche; at least one of each task.
        figure: Computes the figure from each task's mean score, by niche. It must increase with
            every score. Default: the mean over all tasks.
    """
    means = {niche: [mean_of(task) for task in tasks] for niche, tasks in niches.items() if tasks}
    if not means:
        return 0.0, 1.0
    figure = figure or _mean_of_all
    least, most = (figure(_level(means, end)) for end in (0.0, 1.0))
    if least == most:  # The figure is constant.
        return least, least
    spread = _Spread.of([tasks for tasks in niches.values() if tasks])
    slopes = _slopes(figure, means, 0.5)
    elsewhere = _slopes(figure, means, 0.25)
    if any(
        abs(slope - reference) > ALIKE for slope, reference in zip(slopes, elsewhere, strict=True)
    ):
        drawn = sorted(figure(scores) for scores in _draws(means, spread))
        value = figure(means)
        return min(value, drawn[DRAWS // 40]), max(value, drawn[-DRAWS // 40])
    groups = list(means.values())
    low, high = _of_weighted_mean(groups, slopes, spread, (figure(means) - least) / (most - least))
    return least + low * (most - least), least + high * (most - least)


@dataclass(frozen=True, kw_only=True, slots=True)
class _Spread:
    """The variation of scores.

    Attributes:
        overall: Variance of the tasks' scores over all niches.
        inside: Variance of the tasks' scores within a niche.
        trial: The part of it that comes from the small number of trials per task.
        degrees: Degrees of freedom of `inside`.
        tries: The mean of one over the trials of a task.
    """

    tasks: int
    mean: float
    overall: float
    inside: float
    trial: float
    degrees: float
    free: int
    tries: float

    @classmethod
    def of(cls, niches: Sequence[Sequence[Sequence[float]]]) -> _Spread:
        groups = [[mean_of(task) for task in tasks] for tasks in niches]
        scores = [score for group in groups for score in group]
        trials = [task for tasks in niches for task in tasks]
        free, borrowed = len(scores) - len(groups), BORROWED if len(groups) > 1 else 0.0
        overall = _squares(scores) / max(1, len(scores) - 1)
        inside = sum(map(_squares, groups)) + borrowed * overall
        tries = mean_of([1 / len(trial) for trial in trials])
        more = sum(len(trial) - 1 for trial in trials)
        weights = free + borrowed**2 / max(1, len(scores) - 1)
        return cls(
            tasks=len(scores),
            mean=mean_of(scores),
            overall=overall,
            inside=inside / (free + borrowed) if free + borrowed else 0.0,
            trial=tries * sum(map(_squares, trials)) / more if more else 0.0,
            degrees=(free + borrowed) ** 2 / weights if weights else 0.0,
            free=free,
            tries=tries,
        )

    @property
    def most(self) -> float:
        """The variance of single scores of 0 and 1 with this mean, which is the maximum."""
        return self.mean * (1 - self.mean) + self.overall / self.tasks

    @property
    def between(self) -> float:
        """The variance between the tasks themselves."""
        return max(0.0, self.inside - self.trial)

    @property
    def cautious(self) -> float:
        """The variance within a niche, increased if it is estimated from few tasks.

        The factor is (t / z)**2 to the first order. If trials differ more than tasks do, `inside`
        is too small by chance; the true value is assumed halfway.
        """
        few = 1 + (Z**2 + 1) / (2 * (self.degrees - 1)) if self.degrees > 1 else math.inf
        chance = max(0.0, self.trial - self.inside)
        return self.trial - chance / 2 + (few * self.between if self.between else 0.0)

    def share(self, variance: float) -> float:
        """Return a variance as a share of its maximum: above 0, at most 1.

        Args:
            variance: The variance of the tasks' scores, in units of `inside`.
        """
        if self.mean * (1 - self.mean) <= 0 or self.degrees <= 1:
            return 1.0
        return self.widened(min(1.0, self.cautious * variance / self.most))

    def widened(self, share: float) -> float:
        """Add to a share the variation of tasks and trials that a small sample did not show."""
        alike = self.between / self.inside if self.inside else 0.0
        unseen = UNSEEN * (self.tries + (1 - self.tries) * alike)
        least = unseen / (4 * self.tasks * self.mean * (1 - self.mean))
        return share + (1 - share) * min(1.0, least)


def _of_weighted_mean(
    groups: Sequence[Sequence[float]], weights: Sequence[float], spread: _Spread, value: float
) -> Interval:
    """Return the interval of a weighted mean of the niches' means.

    Args:
        groups: The scores of the tasks of each niche.
    """
    squares = [weight**2 / len(group) for weight, group in zip(weights, groups, strict=True)]
    own = [
        (_squares(group) + BORROWED * spread.inside) / (len(group) - 1 + BORROWED)
        for group in groups
    ]
    weighted = sum(square * of for square, of in zip(squares, own, strict=True)) / sum(squares)
    tasks = sum(weights) ** 2 / sum(
        squares
    )  # the effective number of equally weighted tasks (Kish 1965)
    n = tasks / spread.share(weighted / spread.inside if spread.inside else 1.0)
    return wilson(value * n, n)


def _draws(scores: Mapping[str, Sequence[float]], spread: _Spread) -> Iterator[Scores]:
    """Draw possible means of the niches, `DRAWS` times.

    A mean of few tasks is far from the truth, and a nonlinear figure would turn that into bias. So
    each niche's mean is drawn from the combined information of its tasks and the other niches: a
    beta distribution, whose prior has the niches' mean and spread. Both are drawn too, the spread
    from the ratio of mean squares (Weerahandi 1993, ch. 8), or uniformly if no niche has two tasks.
    """
    chance = random.Random(0)  # noqa: S311 - not for secrets
    sizes = [len(group) for group in scores.values()]
    means = [mean_of(group) for group in scores.values()]
    for _ in range(DRAWS):
        apart = _share_of_niches(sizes, means, spread, chance)
        room = spread.mean * (1 - spread.mean) * (1 - apart)
        share = spread.widened(min(1.0, spread.cautious / room)) if room else 1.0
        counts = [size / share for size in sizes]
        report = sum(n / (1 + apart * (n - 1)) if n > 1 else n for n in counts)
        middle = _beta(chance, spread.mean * report + 0.5, (1 - spread.mean) * report + 0.5)
        prior = 1 / apart - 1
        drawn = (
            _beta(chance, middle * prior + mean * n, (1 - middle) * prior + (1 - mean) * n)
            for mean, n in zip(means, counts, strict=True)
        )
        yield {niche: [mean] * size for niche, mean, size in zip(scores, drawn, sizes, strict=True)}


def _share_of_niches(
    sizes: Sequence[int], means: Sequence[float], spread: _Spread, chance: random.Random
) -> float:
    """Draw the share of the variance that lies between niches."""
    others, room = len(sizes) - 1, spread.mean * (1 - spread.mean)
    if not (others and spread.free and spread.inside and room):
        return LEAST_SHARE + chance.random() * (MOST_SHARE - LEAST_SHARE)
    squares = sum(n * (value - spread.mean) ** 2 for n, value in zip(sizes, means, strict=True))
    size = (spread.tasks - sum(n * n for n in sizes) / spread.tasks) / others
    ratio = _chi_square(chance, others) / _chi_square(chance, spread.free)
    between = (squares / others / ratio - spread.inside) / size
    return min(MOST_SHARE, max(LEAST_SHARE, between / room))


def _chi_square(chance: random.Random, degrees: int) -> float:
    return chance.gammavariate(degrees / 2, 2) / degrees


def _beta(chance: random.Random, first: float, second: float) -> float:
    return chance.betavariate(max(first, LEAST_SHARE), max(second, LEAST_SHARE))


def _slopes(figure: Figure, scores: Scores, level: float) -> list[float]:
    """Return how much a figure rises with each niche's mean, with all scores at one level."""
    at, rise = _level(scores, level), figure(_level(scores, 1.0)) - figure(_level(scores, 0.0))
    return [
        (figure({**at, niche: [level + STEP] * len(x)}) - figure(at)) / (STEP * rise)
        for niche, x in scores.items()
    ]


def _level(niches: Scores, level: float) -> dict[str, list[float]]:
    return {niche: [level] * len(scores) for niche, scores in niches.items()}


def _mean_of_all(niches: Scores) -> float:
    return mean_of([score for scores in niches.values() for score in scores])


def _squares(values: Sequence[float]) -> float:
    mean = mean_of(values)
    return sum((value - mean) ** 2 for value in values)


def mean_of(values: Sequence[float]) -> float:
    """Return the mean of some values, of which there is one at least."""
    return sum(values) / len(values)
