"""Answers whose verdicts are known, for the items of four benchmarks."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING

from coterie.benchmarks.small import gsm8k, math500, mbpp
from coterie.benchmarks.small.humaneval import beside, humaneval_problems, humaneval_task

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from coterie.benchmarks.evaluation.benchmark import Source
    from coterie.schema.team.task import Task

KINDS = ("published", "wrong", "empty", "malformed")
_NUMBER = re.compile(r"\d+")


@dataclass(frozen=True, kw_only=True, slots=True)
class Answered:
    """An item with answers.

    Attributes:
        task: Its task.
        answers: By kind: the published one is right, the others are not.
    """

    task: Task
    answers: Mapping[str, str]


def gsm8k_answers(source: Source) -> list[Answered]:
    """Write the published solution, one more than its result, and a result without a number."""
    tasks = gsm8k.gsm8k_tasks(source)
    lines = gsm8k.WHOLE.read("gsm8k", source)
    return [
        _answered(task, line.case["answer"], f"#### {Decimal(task.answer) + 1}", "####")
        for task, line in zip(tasks, lines, strict=True)
    ]


def math_answers(source: Source) -> list[Answered]:
    """Write the published answer, another problem's, and an unfinished fraction.

    The published one is not boxed, so that the library has to read it. Another problem's answer
    has other numbers in it: 36 and 36 dollars are the same.
    """
    tasks = math500.math500_tasks(source)
    return [
        _answered(task, f"${task.answer}$", f"${_other(tasks, at)}$", "\\boxed{\\frac{}{\\left(")
        for at, task in enumerate(tasks)
    ]


def mbpp_answers(source: Source) -> list[Answered]:
    """Write the published solution, the same with other results, and the beginning of one."""
    tasks = mbpp.mbpp_tasks(source)
    lines = mbpp.FILE.read("mbpp", source)
    return [_program(task, line.case["code"]) for task, line in zip(tasks, lines, strict=True)]


def humaneval_answers(source: Source) -> list[Answered]:
    """Write the published solution, the same with other results, and the beginning of one."""
    return [
        _program(humaneval_task(problem), problem["prompt"] + problem["canonical_solution"])
        for problem in humaneval_problems(beside(source))
    ]


READERS: Mapping[str, Callable[[Source], Sequence[Answered]]] = {
    "gsm8k": gsm8k_answers,
    "math500": math_answers,
    "mbpp": mbpp_answers,
    "humaneval": humaneval_answers,
}
"""By benchmark; each raises `InputError` as the benchmark does."""


def _answered(task: Task, published: str, wrong: str, malformed: str) -> Answered:
    texts = (published, wrong, "", malformed)
    return Answered(task=task, answers=dict(zip(KINDS, texts, strict=True)))


def _program(task: Task, code: str) -> Answered:
    name = task.answer["entry_point"]
    other = f"_right = {name}\ndef {name}(*given, **named):\n    return [_right(*given, **named)]\n"
    return _answered(task, _fenced(code), _fenced(f"{code}\n{other}"), _fenced(f"def {name}("))


def _fenced(code: str) -> str:
    return f"```python\n{code.rstrip()}\n```"


def _other(tasks: Sequence[Task], at: int) -> str:
    """Return the answer of the next problem whose answer has other numbers in it."""
    own = _numbers(tasks[at])
    following = [*tasks[at + 1 :], *tasks[:at]]
    return next(str(item.answer) for item in following if _numbers(item) != own)


def _numbers(task: Task) -> list[str]:
    return sorted(_NUMBER.findall(str(task.answer)))
