"""A world in the place of models: it answers agents by marks, and operators by values."""

from __future__ import annotations

import functools
import json
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from coterie.operators.core.meta import Question
from coterie.runtime.values.usage import Usage
from coterie.schema.host.catalogue import Catalogue
from coterie.schema.host.models import Model
from coterie.schema.loading.ceiling import CapabilityPolicy

from ..gateways import SimulatedGateway
from .forms import filled
from .marks import mark, marks, padded
from .minds import Attempt, Held, attempted, checked, decided, heard
from .tasks import seen
from .worlds import chance

if TYPE_CHECKING:
    import random
    from collections.abc import Callable, Mapping

    from coterie.runtime.gateway import ChatRequest
    from coterie.schema.team.task import Task

    from .minds import Problem
    from .worlds import World

MODEL = "default"
"""The alias of the model that agents ask."""
META = "meta"
"""The alias of the model that operators ask."""
CEILING = CapabilityPolicy(
    models=frozenset({MODEL}),
    agent_types=frozenset({"LLM", "Function"}),
    backends=frozenset({"llm", "function"}),
)
PLAN = mark("plan", "look at the sign, choose a method, compare the letters")


@functools.cache
def catalogue(*more: str) -> Catalogue:
    """Return the names that are known: two models, and more where a study has some."""
    aliases = (MODEL, META, *more)
    return Catalogue.of_host(
        models={alias: Model(alias=alias, model=f"simulated/{alias}") for alias in aliases}
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class Asked:
    """An operator's question.

    Attributes:
        world: Where.
        question: The question, as a value.
        source: The chance of whoever answers.
    """

    world: World
    question: Question[Any]
    source: random.Random

    def __getitem__(self, name: str) -> Any:
        """Return an input of the question."""
        return self.question.inputs[name]

    @property
    def fields(self) -> Mapping[str, Any]:
        """The fields of the answer, with their schemas."""
        return self.question.schema["properties"]

    @property
    def problem(self) -> Problem:
        """The task that it is about."""
        task: Task = self["task"]
        return seen(self.world, task.query)

    @property
    def knows(self) -> bool:
        """Whether whoever answers knows what is best; drawn anew each time."""
        return self.source.random() < self.world.skill

    def most(self, name: str) -> int:
        """Return how many items a list of the answer may have; 0 where there is no such list."""
        return self.fields.get(name, {}).get("maxItems", 0)


class Simulated(SimulatedGateway):
    """A gateway that asks nobody.

    Args:
        world: Where.
        operators: Who answers which operator, by the operator's name. All others get the least
            that their schema lets through.
        agents: Answers in the place of an agent.
        more: Aliases of further models.
    """

    def __init__(
        self,
        world: World,
        operators: Mapping[str, Callable[[Asked], Mapping[str, Any]]],
        agents: Callable[[World, ChatRequest], str] | None = None,
        more: tuple[str, ...] = (),
    ) -> None:
        super().__init__(catalogue(*more).models, environment={})
        self._world, self._operators, self._agents = world, operators, agents or solved
        self.paid = {"agents": Usage(), "operators": Usage()}
        """What was asked for, by whom."""
        self.asked = Counter[str]()
        """How many questions each operator had."""

    def answered(self, request: ChatRequest) -> str:
        """Answer an agent's or an operator's question."""
        if isinstance(request.source, Question):
            return self._operated(request)
        return self._agents(self._world, request)

    def count(self, request: ChatRequest, usage: Usage) -> None:
        """Add up what agents and operators asked for."""
        self.paid["operators" if isinstance(request.source, Question) else "agents"] += usage

    def _operated(self, request: ChatRequest) -> str:
        question: Question[Any] = request.source  # type: ignore[assignment]
        source = chance(self._world.name, request.seed, question.operator)
        asked = Asked(world=self._world, question=question, source=source)
        self.asked[question.operator] += 1
        answer = self._operators.get(question.operator)
        return json.dumps(answer(asked) if answer else filled(question.schema, "Nothing.", source))


def solved(world: World, request: ChatRequest) -> str:
    """Answer as an agent does: it plans, checks, decides or attempts, by what it reads."""
    instructions, shown = (str(message["content"]) for message in request.messages[:2])
    problem, duty = seen(world, shown), {name for (name,) in marks(instructions, "duty")}
    place, answers = str(request.seed), attempts_in(shown)
    if "plan" in duty:
        return padded((PLAN,), world.answer_tokens)
    if not answers:
        return said(world, attempted(world, problem, place, Held.of(instructions + shown)))
    if "check" in duty:
        letters = heard(world, problem, place, answers[-1].letters)
        verdict = "right" if checked(world, problem, place, letters) else "wrong"
        return padded((mark("verdict", verdict),), world.answer_tokens)
    if verdicts := [verdict for (verdict,) in marks(shown, "verdict")]:
        if verdicts.count("wrong") * 2 > len(verdicts):
            return said(world, attempted(world, problem, place, Held.of(instructions + shown)))
        return said(world, answers[-1])
    given = [
        heard(world, problem, f"{place}/{n}", answer.letters) for n, answer in enumerate(answers)
    ]
    letters = decided(world, problem, place, given)
    best = next((answer for answer in answers if answer.letters == letters), answers[0])
    held = Held.of(instructions + shown).remembered(world, f"{problem.title}/{place}")
    return said(world, Attempt(best.method, best.habit, letters, best.formed or held.formed))


def said(world: World, attempt: Attempt) -> str:
    """Write an attempt, as long as answers are; one without form says its letters elsewhere."""
    first = mark("attempt", attempt.method, attempt.habit, attempt.letters, int(attempt.formed))
    last = f"Answer: {attempt.letters}" if attempt.formed else "That is what it comes to."
    return padded((first, last), world.answer_tokens)


def attempts_in(text: str) -> list[Attempt]:
    """Return the attempts that a text shows, in order."""
    return [
        Attempt(method, habit, letters, formed == "1")
        for method, habit, letters, formed in marks(text, "attempt")
    ]


def attempt_in(text: str | None) -> Attempt | None:
    """Return the last attempt that a text shows."""
    return next(reversed(attempts_in(text or "")), None)
