"""What the samples of an evaluation add up to: figures with their sizes and intervals."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ..pool.statistics import wilson
from ..runtime.usage import Usage
from .benchmark import mean_score
from .statistics import bootstrap, pass_at

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from .benchmark import Headline
    from .samples import Sample
    from .statistics import Interval

__all__ = ["Figures"]


@dataclass(kw_only=True, slots=True)
class _Trials:
    """The trials of one task."""

    niche: str
    scores: list[float] = field(default_factory=list[float])

    @property
    def mean(self) -> float:
        return sum(self.scores) / len(self.scores)


@dataclass(kw_only=True, eq=False)
class Figures:
    """Figures of an evaluation. Trials that nobody can score are counted and left out.

    Attributes:
        headline: What the benchmark is known by.
        samples: Trials with a score.
        executed: Those of them that ran to an answer: the execution rate's numerator.
        unscored: Trials that the provider or the host failed.
        degraded: Trials with a score that went on without agents that the provider failed.
        usage: What all trials consumed.
        seconds: How long all trials took, one after the other.
    """

    headline: Headline
    samples: int = 0
    executed: int = 0
    unscored: int = 0
    degraded: int = 0
    usage: Usage = field(default_factory=Usage)
    seconds: float = 0.0
    _tasks: dict[str, _Trials] = field(default_factory=dict[str, _Trials])
    _measures: dict[str, list[float]] = field(default_factory=dict[str, list[float]])

    @classmethod
    def of(cls, samples: Iterable[Sample], headline: Headline) -> Figures:
        """Add samples up."""
        figures = cls(headline=headline)
        for sample in samples:
            figures.take(sample)
        return figures

    def take(self, sample: Sample) -> None:
        """Take in a sample."""
        self.usage += sample.usage
        self.seconds += sample.seconds
        if sample.score is None:
            self.unscored += 1
            return
        self.samples += 1
        self.executed += sample.status == "done"
        self.degraded += sample.lost > 0
        task = self._tasks.setdefault(sample.task, _Trials(niche=sample.niche))
        task.scores.append(sample.score)
        for name, value in sample.measures.items():
            self._measures.setdefault(name, []).append(value)

    @property
    def niches(self) -> Mapping[str, Sequence[float]]:
        """The score of each task, which is the mean over its trials, by niche."""
        found: dict[str, list[float]] = {}
        for task in self._tasks.values():
            found.setdefault(task.niche, []).append(task.mean)
        return dict(sorted(found.items()))

    @property
    def value(self) -> float | None:
        """The headline figure; None without a sample."""
        return self.headline.of(self.niches) if self._tasks else None

    @property
    def interval(self) -> Interval:
        """Its 95 % interval: Wilson's for single trials that are right or wrong, else bootstrap."""
        return self._interval(self.niches, is_mean=self.headline.of is mean_score)

    def _interval(self, niches: Mapping[str, Sequence[float]], *, is_mean: bool) -> Interval:
        scores = [score for one in niches.values() for score in one]
        if not scores:
            return 0.0, 1.0
        if is_mean and self._is_single and set(scores) <= {0.0, 1.0}:
            return wilson(sum(scores), len(scores))
        return bootstrap(niches, mean_score if is_mean else self.headline.of)

    @property
    def _is_single(self) -> bool:
        return all(len(task.scores) == 1 for task in self._tasks.values())

    def results(self) -> dict[str, Any]:
        """Give the figures as results.json has them."""
        trials = [len(task.scores) for task in self._tasks.values()]
        right = [sum(score == 1 for score in task.scores) for task in self._tasks.values()]
        most = max(trials, default=0)
        return {
            "tasks": len(self._tasks),
            "samples": self.samples,
            "unscored": self.unscored,
            "degraded": self.degraded,
            "headline": {"name": self.headline.name, **_figure(self.value, self.interval)},
            "trials": most,
            "avg@k": mean_score(self.niches),
            "pass@k": {str(k): pass_at(k, right, trials) for k in range(1, most + 1)},
            "execution_rate": _share(self.executed, self.samples),
            "measures": {
                name: {"mean": sum(values) / len(values), "n": len(values)}
                for name, values in sorted(self._measures.items())
            },
            "niches": {
                niche: {
                    "tasks": len(scores),
                    **_figure(
                        mean_score({niche: scores}),
                        self._interval({niche: scores}, is_mean=True),
                    ),
                }
                for niche, scores in self.niches.items()
            },
            "usage": {**self.usage.value(), "cost": self.usage.cost},
            "seconds": round(self.seconds, 3),
        }


def _figure(value: float | None, interval: Interval) -> dict[str, Any]:
    return {"value": value, "interval": list(interval)}


def _share(count: int, n: int) -> dict[str, Any]:
    return {**_figure(count / n if n else None, wilson(count, n)), "n": n}
