"""The figures of an evaluation's samples, with sizes and intervals."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ...pool.values.intervals import Interval, figure_interval, mean_interval, wilson
from ...runtime.values.usage import Usage
from .benchmark import Benchmark, Headline, mean_score
from .measures import Measure, Measured
from .samples import Sample
from .statistics import pass_at, percentiles, rounded


@dataclass(kw_only=True, slots=True)
class _Trials:
    niche: str
    scores: list[float] = field(default_factory=list[float])

    @property
    def mean(self) -> float:
        return sum(self.scores) / len(self.scores)


@dataclass(kw_only=True, eq=False)
class EvaluationFigures:
    """Figures of an evaluation. Trials without a score are counted and left out.

    Attributes:
        executed: The number of samples with an answer: the execution rate's numerator.
        unscored: The number of trials that failed because of the provider or the host.
        substituted: The number of scored trials in which another model answered for an agent.
    """

    headline: Headline
    measured: Measured
    samples: int = 0
    executed: int = 0
    unscored: int = 0
    substituted: int = 0
    usage: Usage = field(default_factory=Usage)
    seconds: float = 0.0
    _tasks: dict[str, _Trials] = field(default_factory=dict[str, _Trials])
    _durations: array[float] = field(default_factory=lambda: array("d"))

    @classmethod
    def on(cls, benchmark: Benchmark) -> EvaluationFigures:
        """Return the figures of an evaluation without any sample."""
        return cls(headline=benchmark.headline, measured=Measured(declared=benchmark.measures))

    @classmethod
    def of(
        cls,
        samples: Iterable[Sample],
        headline: Headline,
        measures: Mapping[str, Measure] | None = None,
    ) -> EvaluationFigures:
        """Return the figures of these samples."""
        figures = cls(headline=headline, measured=Measured(declared=measures or {}))
        for sample in samples:
            figures.take(sample)
        return figures

    def take(self, sample: Sample) -> None:
        """Add a sample."""
        self.usage += sample.usage
        self.seconds += sample.seconds
        if sample.score is None:
            self.unscored += 1
            return
        self.samples += 1
        self.executed += sample.status == "done"
        self.substituted += sample.substituted > 0
        task = self._tasks.setdefault(sample.task, _Trials(niche=sample.niche))
        task.scores.append(sample.score)
        self._durations.append(sample.seconds)
        self.measured.take(sample)

    @property
    def niches(self) -> Mapping[str, Sequence[float]]:
        """The mean score of each task over its trials, by niche."""
        fields: dict[str, list[float]] = {}
        for task in self._tasks.values():
            fields.setdefault(task.niche, []).append(task.mean)
        return dict(sorted(fields.items()))

    @property
    def scores(self) -> Mapping[str, Sequence[float]]:
        """The scores of each task's trials."""
        return {name: task.scores for name, task in self._tasks.items()}

    @property
    def value(self) -> float | None:
        """The headline figure; None without a sample."""
        return self.headline.of(self.niches) if self._tasks else None

    @property
    def interval(self) -> Interval:
        """Its 95 % interval."""
        of = None if self.headline.of is mean_score else self.headline.of
        return figure_interval(self._trials, of)

    @property
    def _trials(self) -> Mapping[str, Sequence[Sequence[float]]]:
        fields: dict[str, list[list[float]]] = {}
        for task in self._tasks.values():
            fields.setdefault(task.niche, []).append(task.scores)
        return dict(sorted(fields.items()))

    def results(self) -> dict[str, Any]:
        """Return the figures in the form of results.json."""
        trials = [len(task.scores) for task in self._tasks.values()]
        right = [sum(score == 1 for score in task.scores) for task in self._tasks.values()]
        most = max(trials, default=0)
        return rounded(
            {
                "tasks": len(self._tasks),
                "samples": self.samples,
                "unscored": self.unscored,
                "substituted": self.substituted,
                "headline": {"name": self.headline.name, **_figure(self.value, self.interval)},
                "trials": most,
                "avg@k": mean_score(self.niches),
                "pass@k": {str(k): pass_at(k, right, trials) for k in range(1, most + 1)},
                "execution_rate": _share(self.executed, self.samples),
                "measures": self.measured.results(self.samples),
                "niches": {
                    niche: {
                        "tasks": len(trials),
                        **_figure(mean_score({niche: self.niches[niche]}), mean_interval(trials)),
                    }
                    for niche, trials in self._trials.items()
                },
                "usage": {**self.usage.value(), "cost": self.usage.cost},
                "seconds": round(self.seconds, 3),
                "latency": percentiles(self._durations),
            }
        )


def _figure(value: float | None, interval: Interval) -> dict[str, Any]:
    return {"value": value, "interval": list(interval)}


def _share(count: int, n: int) -> dict[str, Any]:
    return {**_figure(count / n if n else None, wilson(count, n)), "n": n}
