"""The streams of the world, and how an answer is scored."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any, Literal

from coterie.runtime.values.score import Score
from coterie.schema.host.scorer_form import ScorerForm, takes
from coterie.schema.team.task import ScorerChoice, Task

from ..plugin import register
from .landscapes import NICHES
from .texts import answer_in, posed
from .world import problem_of, title

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

__all__ = ["ORDERS", "Order", "graded", "tasks"]

register()  # the scorer below is found by name

Order = Literal["mixed", "blocked"]
"""Of each four tasks one of each niche, in a drawn order; or one niche after the other."""
ORDERS: tuple[Order, ...] = ("mixed", "blocked")


def tasks(seed: int, count: int, order: Order = "mixed") -> list[Task]:
    """Make the tasks of a stream; the tasks of both orders are the same.

    Args:
        seed: Which stream.
        count: How many tasks.
        order: In which order.
    """
    stream = [_task(seed, number, niche) for number, niche in enumerate(_niches(seed, count))]
    if order == "blocked":
        stream.sort(key=lambda one: NICHES.index(str(one.niche)))
    return stream


def _niches(seed: int, count: int) -> Iterator[str]:
    source = random.Random(f"chamber/stream {seed}")  # noqa: S311 - guards nothing
    for start in range(0, count, len(NICHES)):
        yield from source.sample(NICHES, len(NICHES))[: count - start]


def _task(seed: int, number: int, niche: str) -> Task:
    problem = problem_of(title(seed, number, niche))
    return Task(
        id=f"t{number}",
        query=posed(problem),
        niche=niche,
        answer=problem.answer,
        scorer=ScorerChoice(name="chamber_letter"),
    )


@takes(ScorerForm(reference={"type": "string", "minLength": 1}))
def graded(answer: str, reference: Any, options: Mapping[str, Any]) -> Score:
    """Give 1 for the right letter, else 0; the last one that an answer comes to counts."""
    del options
    given = answer_in(answer)
    return Score(value=float(given == str(reference)), reason=f"the answer is {given or 'missing'}")
