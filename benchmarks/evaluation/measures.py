"""Measures: values that a scorer reports beside the score, aggregated over an evaluation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from ...pool.values.intervals import Interval, figure_interval, mean_of, paired_interval
from ...runtime.scoring.ranked import HITS
from ...schema.host.conforming import PluginValue
from .samples import Sample

Values = dict[str, dict[str, list[float]]]
"""The values of a measure in the trials of each task, by niche and task."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Measure(PluginValue):
    """A benchmark's declaration of a measure of its scorer.

    Attributes:
        unanswered: The value of a trial without an answer; None: only trials that report the
            measure count, and their number is shown.
        interval: The kind of interval of its mean over tasks: of a `share`, whose values are in [0,
            1], or of a `difference` of two shares, in [-1, 1]; None: none.
    """

    unanswered: float | None = None
    interval: Literal["share", "difference"] | None = None

    def of(self, niches: Mapping[str, Sequence[Sequence[float]]]) -> Interval | None:
        """Return the 95 % interval of the mean.

        Args:
            niches: The values of each task's trials, by niche.
        """
        if self.interval == "share":
            return figure_interval(niches)
        if self.interval == "difference":
            return paired_interval([mean_of(task) for tasks in niches.values() for task in tasks])
        return None


_SHARE = Measure(unanswered=0.0, interval="share")

RANKED: Mapping[str, Measure] = {
    **{f"hit@{k}": _SHARE for k in HITS},
    "reciprocal_rank": _SHARE,
}
"""The measures of the scorer `ranked`: Hit@k, and the reciprocal rank, whose mean is MRR (MATTRL
Table 1)."""

LEARNING: Mapping[str, Measure] = {
    "before": Measure(interval="share"),
    "after": _SHARE,
    "gain": Measure(interval="difference"),
}
"""The measures of the scorer `lesson`: whether a student was right before and after, and the
difference, which is the learning gain (MATTRL Table 3)."""


@dataclass(kw_only=True, eq=False)
class Measured:
    """The measures of an evaluation.

    Attributes:
        declared: The benchmark's declarations, in display order.
    """

    declared: Mapping[str, Measure]
    _values: dict[str, Values] = field(default_factory=dict[str, Values])
    _silent: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])

    def take(self, sample: Sample) -> None:
        """Add a trial that has a score."""
        if sample.answer is None and not sample.measures:
            self._silent.append((sample.niche, sample.task))
        for name, value in sample.measures.items():
            _put(self._values.setdefault(name, {}), sample.niche, sample.task, value)

    def of(self, name: str) -> Mapping[str, Mapping[str, Sequence[float]]]:
        """Return the values of a measure in the trials of each task, by niche and task.

        A trial without an answer has the value that the benchmark declares, or none.
        """
        unanswered = self.declared.get(name, Measure()).unanswered
        niches = {
            niche: {task: list(trials) for task, trials in tasks.items()}
            for niche, tasks in self._values.get(name, {}).items()
        }
        if unanswered is not None:
            for niche, task in self._silent:
                _put(niches, niche, task, unanswered)
        return niches

    def results(self, samples: int) -> dict[str, Any]:
        """Return each measure's mean, its interval, and the number of its values and of samples."""
        return {name: self._figure(name, samples) for name in self._names}

    @property
    def _names(self) -> list[str]:
        first = [name for name in self.declared if name in self._values]
        return [*first, *sorted(self._values.keys() - self.declared.keys())]

    def _figure(self, name: str, samples: int) -> dict[str, Any]:
        niches = {niche: list(tasks.values()) for niche, tasks in sorted(self.of(name).items())}
        values = [value for tasks in niches.values() for trials in tasks for value in trials]
        interval = self.declared.get(name, Measure()).of(niches)
        figure = {"mean": mean_of(values), "n": len(values), "of": samples}
        return figure if interval is None else {**figure, "interval": list(interval)}


def paired(name: str, before: Measured, after: Measured) -> dict[str, Any] | None:
    """Compare a measure of two evaluations on their common tasks.

    Returns:
        Both means, their difference with its 95 % interval, and the number of tasks. None without
        common tasks, or if differences of this measure have no interval.
    """
    kind = before.declared.get(name, Measure()).interval
    fields, later = (_by_task(measured.of(name)) for measured in (before, after))
    common = [task for task in fields if task in later]
    if kind is None or not common:
        return None
    span = 2.0 if kind == "difference" else 1.0
    differences = [(later[task] - fields[task]) / span for task in common]
    return {
        "tasks": len(common),
        "means": [mean_of([record[task] for task in common]) for record in (fields, later)],
        "difference": span * mean_of(differences),
        "interval": [span * end for end in paired_interval(differences)],
    }


def _put(niches: Values, niche: str, task: str, value: float) -> None:
    niches.setdefault(niche, {}).setdefault(task, []).append(value)


def _by_task(niches: Mapping[str, Mapping[str, Sequence[float]]]) -> dict[str, float]:
    return {task: mean_of(trials) for tasks in niches.values() for task, trials in tasks.items()}
