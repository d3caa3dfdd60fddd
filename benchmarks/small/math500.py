"""The benchmark `math500`: competition mathematics, each problem with an answer in LaTeX."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from ...schema.errors import InputError
from ...schema.problems import reason_of
from ...schema.task import ScorerChoice, Task
from ..benchmark import Benchmark
from .mathematics import require_math

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..benchmark import Source

__all__ = ["MATH500"]

FILE = "math500.jsonl"
HOW_TO_GET = (
    f"Name the folder that has {FILE} with --data: a JSON object a line with problem, answer,"
    " subject and level, as the 500 problems of Lightman et al. are published."
)
REQUEST = "Solve the problem. Put the final answer, and nothing else, into \\boxed{} at the end."
FIELDS = {"problem": str, "answer": str, "subject": str, "level": int}


def math500_tasks(source: Source) -> list[Task]:
    """Give a task for each line of the file, in its order.

    Raises:
        InputError: The file is missing, cannot be read, or is not of this form.
    """
    if source.data is None:
        raise InputError(f"benchmark math500: its file is not part of coterie. {HOW_TO_GET}")
    path = source.data / FILE
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        why = reason_of(error)
        raise InputError(
            f"benchmark math500: {str(path)!r} cannot be read: {why}. {HOW_TO_GET}"
        ) from error
    return [_task(number, line, f"{path}:{number}") for number, line in enumerate(lines, start=1)]


def _task(number: int, line: str, where: str) -> Task:
    case = _case(line, where)
    return Task(
        id=f"math500-{number:03}",
        query=f"{case['problem']}\n\n{REQUEST}",
        niche=f"{_plain(case['subject'])}_{case['level']}",
        answer=case["answer"],
        scorer=ScorerChoice(name="math"),
    )


def _case(line: str, where: str) -> dict[str, Any]:
    try:
        case = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{where}: not JSON: {error}. {HOW_TO_GET}") from None
    for name, kind in FIELDS.items():
        value = case.get(name) if isinstance(case, dict) else None
        if not isinstance(value, kind) or not str(value).strip():
            raise InputError(f"{where}: {name} is {value!r}, not {kind.__name__}. {HOW_TO_GET}")
    return case


def _plain(subject: str) -> str:
    """Write a subject as a niche: `Counting & Probability` as `counting_probability`."""
    words = "".join(char if char.isalnum() else " " for char in subject.casefold())
    return "_".join(words.split())


def _prepare(_source: Source, _tasks: Sequence[Task]) -> None:
    require_math("benchmark math500")


MATH500 = Benchmark(
    name="math500",
    title="MATH, 500 problems of the test split (2021)",
    about=(
        "Competition mathematics. An answer is right if what it boxes, else its last expression,"
        " means the same as the published answer by math-verify, which reads it in a jail. A niche"
        " is a subject and a level, such as `algebra_5`: --instances cannot choose by it, --limit"
        " keeps the shares. Other verdicts than math-verify's give other figures."
    ),
    licence="MIT, Copyright (c) 2021 Dan Hendrycks",
    citation=(
        "Hendrycks et al., Measuring Mathematical Problem Solving With the MATH Dataset,"
        " arXiv:2103.03874 (2021); the selection: Lightman et al., arXiv:2305.20050 (2023)"
    ),
    source=HOW_TO_GET,
    tasks=math500_tasks,
    prepare=_prepare,
)
