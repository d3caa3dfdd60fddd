"""The world in the place of models: agents answer as it says, operators' questions go on.

Everything is a function of the questions and their seeds.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from coterie.runtime.gateway import ChatAnswer, Gateway
from coterie.runtime.values.usage import Usage

from ..fences import fenced_texts
from ..simulated import usage_of
from .meta import answered
from .names import META, catalogue
from .texts import (
    PLAN,
    answer_in,
    habits_in,
    lessons_in,
    personas_in,
    said,
    title_in,
    verdict_in,
    verdict_said,
)
from .world import Knowledge, attempted, checked, decided, problem_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from coterie.runtime.gateway import ChatRequest

    from .landscapes import Landscape
    from .world import Problem

__all__ = ["Simulated"]

CRITIC = "Find what is wrong with that answer"
"""What the instructions of a position say that checks an answer."""
PLANNER = "Split the task into parts"
"""What those of a position say that divides a task."""


class Simulated(Gateway):
    """A gateway that asks nobody.

    Args:
        world: Where.
    """

    def __init__(self, world: Landscape) -> None:
        super().__init__(catalogue().models, environment={})
        self._world = world
        self.paid: dict[str, Usage] = {}
        """What was asked for, by the alias of the model."""
        self.asked = Counter[str]()
        """How many questions each operator had."""

    def check(self, aliases: Iterable[str], *, priced: bool = False) -> None:
        """Find nothing to object to."""

    async def prepare(self, aliases: Iterable[str], *, priced: bool = False) -> None:
        """Need nothing."""

    async def chat(self, request: ChatRequest, *_: Any, **__: Any) -> ChatAnswer:
        """Answer an agent's or an operator's question."""
        instructions, shown = (str(one["content"]) for one in request.messages[:2])
        if request.model == META:
            operator, text = answered(self._world, request)
            self.asked[operator] += 1
        else:
            text = _Position(
                world=self._world,
                problem=_problem(shown),
                place=str(request.seed),
                instructions=instructions,
                shown=shown,
            ).answer()
        usage = usage_of(request, text)
        self.paid[request.model] = self.paid.get(request.model, Usage()) + usage
        return ChatAnswer(text=text, usage=usage, model=request.model, alias=request.model)


def _problem(shown: str) -> Problem:
    if (named := title_in(shown)) is None:
        raise ValueError(f"this is no task of the world: {shown!r}")
    return problem_of(named)


@dataclass(frozen=True, kw_only=True, slots=True)
class _Position:
    """What an agent is asked in a position of a team."""

    world: Landscape
    problem: Problem
    place: str
    instructions: str
    shown: str

    def answer(self) -> str:
        """Answer: attempt, plan, check, revise or decide, by what is read and asked."""
        if PLANNER in self.instructions:
            return PLAN
        if not self._answers:
            return self._attempted()
        if CRITIC in self.instructions:
            return self._checked()
        if verdicts := self._verdicts:
            # A draw keeps the answer.
            return self._attempted() if sum(verdicts) * 2 < len(verdicts) else self._latest()
        return self._decided()

    @property
    def _heard(self) -> list[str]:
        return [text for _, text in fenced_texts(self.shown, "own", "report", "answer")]

    @property
    def _answers(self) -> list[str]:
        found = map(answer_in, self._heard)
        return [one for one in found if one is not None]

    @property
    def _verdicts(self) -> list[bool]:
        found = map(verdict_in, self._heard)
        return [one for one in found if one is not None]

    def _attempted(self) -> str:
        reminded = [text for _, text in fenced_texts(self.shown, "learnt", "bulletin")]
        read = "\n".join([self.instructions, *reminded])
        known = Knowledge(
            lessons=lessons_in(read),
            habits=[habit for habit, _ in habits_in(read)],
            personas=personas_in(self.instructions),
            planned=any(PLAN in text for text in self._heard),
        )
        return said(attempted(self.world, self.problem, self.place, known))

    def _checked(self) -> str:
        letter = self._answers[-1]
        return verdict_said(right=checked(self.world, self.problem, self.place, letter))

    def _latest(self) -> str:
        return next(text for text in reversed(self._heard) if answer_in(text))

    def _decided(self) -> str:
        letter = decided(self.world, self.problem, self.place, self._answers)
        return next(text for text in self._heard if answer_in(text) == letter)
