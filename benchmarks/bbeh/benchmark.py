"""The benchmarks `bbeh` and `bbeh-mini`, and the figure that each is known by."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..evaluation.benchmark import Benchmark, Headline
from .examples import HOW_TO_GET, full_tasks, mini_tasks
from .export import export_answers

ADDED = 0.01
"""Keeps one subtask without a right answer from making the whole figure 0."""


def harmonic_mean_accuracy(niches: Mapping[str, Sequence[float]]) -> float:
    """Give the harmonic mean over subtasks of accuracy + 0.01. Nothing is subtracted afterwards.

    All right is 1.01, nothing right is 0.01. Subtasks without a scored task are left out.
    """
    accuracies = [sum(scores) / len(scores) for scores in niches.values() if scores]
    if not accuracies:
        return 0.0
    return len(accuracies) / sum(1 / (accuracy + ADDED) for accuracy in accuracies)


_LICENCE = "CC BY 4.0, Copyright 2025 Google LLC. Keep the canary string wherever the data goes."
_CITATION = (
    "Kazemi et al., BIG-Bench Extra Hard, arXiv:2502.19187 (2025), and the works that its README"
    " names for the subtasks"
)
_VERDICT = (
    "Scored as the original does it, from the first line that follows the last 'The answer is:'."
)

BBEH = Benchmark(
    name="bbeh",
    title="BIG-Bench Extra Hard (2025)",
    about=(
        f"4,520 hard questions in 23 subtasks. {_VERDICT} The figure is the harmonic mean over"
        " subtasks of accuracy + 0.01, so weak subtasks weigh most. It says little where only a"
        " part of the tasks was run."
    ),
    licence=_LICENCE,
    citation=_CITATION,
    source=HOW_TO_GET,
    tasks=full_tasks,
    exports={"bbeh": export_answers},
    headline=Headline(name="harmonic mean accuracy", of=harmonic_mean_accuracy),
)

BBEH_MINI = Benchmark(
    name="bbeh-mini",
    title="BIG-Bench Extra Hard, mini set (2025)",
    about=(
        f"460 of the 4,520 questions, 20 of each subtask. {_VERDICT} The figure is the accuracy"
        " over all of them. The files of the full set are needed as well."
    ),
    licence=_LICENCE,
    citation=_CITATION,
    source=HOW_TO_GET,
    tasks=mini_tasks,
    exports={"bbeh": export_answers},
)
