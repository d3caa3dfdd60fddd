"""Whether the scorer `math` says of rewritten answers what its library says of them."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import TYPE_CHECKING

from coterie.benchmarks.small.math500 import math500_tasks
from coterie.runtime.scoring.scorers import Evidence, score

from .forms import FORMS, boxed

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

    from coterie.benchmarks.evaluation.benchmark import Source
    from coterie.runtime.jail import Jails
    from coterie.schema.team.task import Task


@dataclass(frozen=True, kw_only=True, slots=True)
class Pair:
    """A published answer in some form, and a problem that it is held against.

    Attributes:
        form: How it is written.
        task: The problem.
        text: The answer.
        changed: Whether that is another text than the boxed answer.
    """

    form: str
    task: Task
    text: str
    changed: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class Verdict:
    """What was said of a pair: by the scorer, and by the library in this process."""

    pair: Pair
    scorer: bool
    library: bool


def own(source: Source, sample: int | None = None) -> list[Pair]:
    """Return each answer in each form with its own problem."""
    tasks = _drawn(math500_tasks(source), sample)
    return [_pair(form, task, str(task.answer)) for form in FORMS for task in tasks]


def others(source: Source, count: int) -> list[Pair]:
    """Return some answers with problems whose published answer is another text.

    The first ones of all such pairs in all forms, in an order that is always alike.
    """
    tasks = list({str(task.answer): task for task in math500_tasks(source)}.values())
    numbers = range(len(FORMS) * len(tasks) * (len(tasks) - 1))
    chance = random.Random("others")  # noqa: S311 - the same draw every time
    return [_numbered(number, tasks) for number in chance.sample(numbers, count)]


def _numbered(number: int, tasks: Sequence[Task]) -> Pair:
    number, form = divmod(number, len(FORMS))
    at, other = divmod(number, len(tasks) - 1)
    return _pair([*FORMS][form], tasks[at], str(tasks[other + (other >= at)].answer))


def _pair(form: str, task: Task, answer: str) -> Pair:
    text = FORMS[form](answer)
    return Pair(form=form, task=task, text=text, changed=text != boxed(answer))


def _drawn(tasks: Sequence[Task], sample: int | None) -> Sequence[Task]:
    if sample is None or sample >= len(tasks):
        return tasks
    return random.Random("own").sample(tasks, sample)  # noqa: S311 - the same draw every time


async def verdicts(pairs: Sequence[Pair], jails: Jails) -> AsyncIterator[Verdict]:
    """Judge pairs, one after the other.

    Raises:
        InputError: math-verify is not installed.
        JailError: There is no jail, or it failed.
    """
    for pair in pairs:
        result = await score(Evidence(task=pair.task, answer=pair.text, jails=jails))
        assert result is not None  # noqa: S101 - the task has a reference answer
        holds = _by_library(str(pair.task.answer), pair.text)
        yield Verdict(pair=pair, scorer=result.value == 1, library=holds)


def _by_library(reference: str, answer: str) -> bool:
    """Ask the library as its documentation does. Both are published answers, which do no harm."""
    from math_verify import parse, verify

    return verify(parse(f"${reference}$"), parse(answer))
