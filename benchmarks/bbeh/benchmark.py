"""The benchmarks `bbeh` and `bbeh-mini`, with their headline figures."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from ...schema.values.errors import InputError
from ...schema.values.files import write_atomically
from ...schema.values.terminal import counted
from ..evaluation.benchmark import Benchmark, Headline
from ..evaluation.exporting import Answers
from .examples import HOW_TO_GET, SUFFIX, full_tasks, mini_tasks, read_canary


def export_answers(answers: Answers) -> str:
    """Write a file like BBEH's task.json, with a field `output` in each example.

    The original's `evaluate_correctness(example["output"], example["target"])` gives the sample's
    verdict; a missing answer is written as an empty text.

    Raises:
        InputError: The target is no .json, or the benchmark's files are not there any more.
        StorageError: It cannot be written.
    """
    if answers.target.suffix != ".json":
        raise InputError(f"{answers.target}: answers to BBEH are written as .json.")
    tasks = {task.id: task for task in full_tasks(answers.source)}
    examples = [
        {
            "task": f"bbeh_{tasks[sample.task].niche}",
            "id": sample.task,
            "input": tasks[sample.task].query.removesuffix(SUFFIX),
            "target": tasks[sample.task].answer,
            "output": sample.answer or "",
        }
        for sample in answers.samples
    ]
    fields = {"canary": read_canary(answers.source), "model": answers.name, "examples": examples}
    write_atomically(answers.target, json.dumps(fields, indent=1, ensure_ascii=False) + "\n")
    silent = sum(sample.answer is None for sample in answers.samples)
    without = f", {silent} of them without an answer" if silent else ""
    return f"{counted(len(examples), 'example')} in {answers.target}{without}"


ADDED = 0.01
"""Keeps a subtask without a right answer from making the whole figure 0."""


def harmonic_mean_accuracy(niches: Mapping[str, Sequence[float]]) -> float:
    """Return the harmonic mean over subtasks of accuracy + 0.01. Nothing is subtracted afterwards.

    The maximum is 1.01, the minimum 0.01. Subtasks without a scored task are left out.
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
