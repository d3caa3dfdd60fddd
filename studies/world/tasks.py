"""The streams of tasks, and how an answer is scored."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from coterie.runtime.agents.outcomes import Score
from coterie.schema.host.scorer_form import ScorerForm, takes
from coterie.schema.team.task import ScorerChoice, Task

from ..plugin import register
from .marks import mark, marks, padded
from .minds import LETTERS, problem_of
from .worlds import NICHES, chance

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from .minds import Problem
    from .worlds import World

register()  # the scorer below is found by name
ANSWER = re.compile(rf"\bAnswer: ([{LETTERS}-]+)\b")


def stream(world: World, seed: int, count: int, split: str = "learn") -> list[Task]:
    """Return tasks: of as many in a row as there are niches, one of each, in a drawn order.

    Args:
        world: Where.
        seed: Which stream.
        count: How many.
        split: What for; tasks of different splits differ.
    """
    named = enumerate(_niches(f"{split} {seed}", count))
    return [_task(world, f"Problem {split} {seed}/{number} of the {it}") for number, it in named]


def _niches(of: str, count: int) -> Iterator[str]:
    source = chance("stream", of)
    for start in range(0, count, len(NICHES)):
        yield from source.sample(NICHES, len(NICHES))[: count - start]


def _task(world: World, title: str) -> Task:
    problem = problem_of(title, world.parts)
    shown = mark("task", title, problem.niche, problem.sign)
    asked = f"Which letters are right, from {LETTERS[0]} to {LETTERS[-1]}?"
    return Task(
        id=title.removeprefix("Problem ").partition(" of ")[0].replace("/", " ").replace(" ", "-"),
        query=padded((f"{shown} {problem.sign} of the {problem.niche}", asked), world.task_tokens),
        niche=problem.niche,
        answer=problem.answers,
        scorer=ScorerChoice(name="world_letters"),
    )


def seen(world: World, text: str) -> Problem:
    """Return the task that a text is about: the one that it names first.

    Raises:
        ValueError: It names none.
    """
    for title, *_ in marks(text, "task"):
        return problem_of(title, world.parts)
    raise ValueError(f"this is no task of the world: {text[:200]!r}")


def answer_in(text: str) -> str:
    """Return the answer of a text: the last one; "" where none has the form."""
    return ["", *ANSWER.findall(text)][-1]


@takes(ScorerForm(reference={"type": "string", "minLength": 1}))
def letters(answer: str, reference: Any, options: Mapping[str, Any]) -> Score:
    """Return the share of letters that are right."""
    del options
    given, wanted = answer_in(answer), str(reference)
    right = sum(name == it for name, it in zip(given, wanted, strict=False))
    return Score(value=right / len(wanted), reason=f"{right} of {len(wanted)}")
