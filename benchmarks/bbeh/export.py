"""Answers to BBEH as a file of its examples, each with what a team said."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from ...runtime.values.terminal import counted
from ...schema.values.errors import InputError
from ...schema.values.files import write_atomically
from .examples import SUFFIX, full_tasks, read_canary

if TYPE_CHECKING:
    from ..evaluation.exporting import Answers


def export_answers(answers: Answers) -> str:
    """Write a file like BBEH's task.json, with a field `output` in each example.

    `evaluate_correctness(example["output"], example["target"])` of the original gives the verdict
    that the sample has; an answer that there is none of is written as an empty text.

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
    told = {"canary": read_canary(answers.source), "model": answers.name, "examples": examples}
    write_atomically(answers.target, json.dumps(told, indent=1, ensure_ascii=False) + "\n")
    silent = sum(sample.answer is None for sample in answers.samples)
    without = f", {silent} of them without an answer" if silent else ""
    return f"{counted(len(examples), 'example')} in {answers.target}{without}"
