"""Chance: random answers to operators' questions, without a model.

It is the control of every experiment with models as operators. A model's answers are worth what
they gain over random ones, for the same questions and under the same ceiling. `Chance` takes the
place of a model, so `decide`, `instantiate`, `mutate` and `crossover` are the same with either.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from ....schema.edits import Component
from ....schema.host.catalogue import Catalogue
from ....schema.loading.ceiling import CapabilityPolicy
from ....schema.team.team import Team, is_prompt_id
from ....schema.values.values import is_list, is_mapping
from ...core.answers import InvalidAnswer
from ...core.bounds import Bounds
from ...core.material import prompt_of
from ...core.meta import OperatorModel, Question
from ...core.operator import Operator, OperatorSetting
from ...core.proposal import Parent, Proposal, RejectedProposal
from ...core.sampling import sample
from .components import MUTABLE
from .mutate import mutation, nothing_to_change

OPERATOR = "chance"
REASON = "Drawn at random."
TRIES = 20
FEW = Bounds(edits=3)
"""About as many edits as a model makes of a component; more would mostly exclude each other."""
SENTENCE = re.compile(r"(?<=[.!?:])\s+|\n+")
STOCK = (
    "Think step by step.",
    "Check your result before you answer.",
    "Answer in one sentence.",
    "Give only the final answer.",
    "First restate the task in your own words.",
    "Consider what could go wrong.",
    "Be brief.",
    "Explain your reasoning.",
)
"""Sentences that people add to a prompt when they know nothing about the task."""

Answered = TypeVar("Answered")


@dataclass(frozen=True, kw_only=True, slots=True)
class Chance(OperatorModel):
    """Answers with random values that a question's schema allows.

    A value that makes no valid child is drawn again. The same seed, path and question give the same
    answer.

    Attributes:
        bounds: By default those of a large model, but with few edits at once.
    """

    bounds: Bounds | None = FEW
    seed: int = 0

    async def ask(self, path: str, question: Question[Answered]) -> Answered | RejectedProposal:
        """Answer a question; see `answer`."""
        return self.answer(path, question)

    def answer(self, path: str, question: Question[Answered]) -> Answered | RejectedProposal:
        """Answer a question, or drop it after a number of draws without a valid one."""
        source = random.Random(f"{self.seed}/{path}/chance")  # noqa: S311 - guards nothing
        texts = _texts(question.team, self.catalogue) if question.team else {}
        words = sorted({word for text in texts.values() for word in text.split()}) or ["yes", "no"]
        problems: tuple[str, ...] = ()
        for _ in range(TRIES):
            value = _reworded(sample(question.schema, source, words), texts, source)
            if "reason" in value:
                value["reason"] = REASON
            answer = json.dumps(value)
            try:
                read = question.read(answer)
            except InvalidAnswer as unfit:
                problems = unfit.problems
                continue
            self.tell("operator_answered", path=path, operator=question.operator, answer=answer)
            return read
        why = "nothing that was drawn is of use."
        parents = question.parents
        return self.drop(path, question.operator, why, problems=problems, parents=parents)


def chance(
    team: Team,
    component: Component,
    catalogue: Catalogue,
    ceiling: CapabilityPolicy,
    *,
    path: str = "",
    seed: int = 0,
    edits: int = 1,
) -> Proposal | RejectedProposal:
    """Return a child with random edits of one component, without a model call.

    Raises:
        ValueError: Mutations do not touch this component.
    """
    if component not in MUTABLE:
        raise ValueError(f"a mutation touches one of {', '.join(MUTABLE)}, not {component!r}.")
    bounds = Bounds(edits=edits)
    drawn = Chance(catalogue=catalogue, ceiling=ceiling, bounds=bounds, seed=seed)
    question = mutation(drawn, Parent(team=team), component)
    if question is None:
        return RejectedProposal(
            operator=OPERATOR, reason=nothing_to_change(component), parents=(team.name,)
        )
    return replace(drawn.answer(path, question), operator=OPERATOR)


async def draw(
    meta_model: Chance, path: str, team: Team, *, component: Component, edits: int = 1
) -> Proposal | RejectedProposal:
    """Return a child with random edits; see `chance`, called with an empty path.

    Args:
        path: Unused: the same team, component and seed give the same child.
    """
    del path
    return chance(
        team, component, meta_model.catalogue, meta_model.ceiling, seed=meta_model.seed, edits=edits
    )


def _texts(team: Team, catalogue: Catalogue) -> dict[str, str]:
    asking = filter(team.asks_model, team.agents.values())
    return {agent.id: prompt_of(agent, catalogue) for agent in asking}


def _reworded(value: Any, texts: Mapping[str, str], source: random.Random) -> Any:
    """Replace drawn prompts by random changes of the team's own prompts."""
    if is_list(value):
        return [_reworded(item, texts, source) for item in value]
    if not is_mapping(value):
        return value
    fields = {key: _reworded(item, texts, source) for key, item in value.items()}
    if "prompt" in fields and texts:
        is_own = fields.get("agent") in texts
        agent: str = fields["agent"] if is_own else _any(texts, source)
        fields["prompt"] = _prompt(agent, texts, source)
    return fields


def _any(texts: Mapping[str, str], source: random.Random) -> str:
    return source.choice(sorted(texts))


def _prompt(agent: str, texts: Mapping[str, str], source: random.Random) -> str:
    """Change a prompt at random: add, drop or shuffle sentences, or copy another agent's prompt."""
    sentences = [part for part in SENTENCE.split(texts[agent]) if part.strip()]
    place = source.randrange(len(sentences) + 1)
    match source.choice(["add", "drop", "swap", "borrow"]):
        case "drop" if len(sentences) > 1:
            del sentences[min(place, len(sentences) - 1)]
        case "swap":
            source.shuffle(sentences)
        case "borrow":
            return _as_text(texts[_any(texts, source)])
        case _:
            sentences.insert(place, source.choice(STOCK))
    return _as_text("\n".join(sentences))


def _as_text(prompt: str) -> str:
    """End a prompt that looks like the id of a prompt file with a line break, so it is text."""
    return f"{prompt}\n" if is_prompt_id(prompt) else prompt


CHANCE = Operator(
    name=OPERATOR,
    scale="team",
    act=draw,
    about="Change one component of a team at random, for comparison. The same team, component and"
    " --seed give the same child.",
    inputs={
        "component": OperatorSetting(about="What to change.", choices=MUTABLE),
        "edits": OperatorSetting(about="The most edits.", least=1, most=100),
    },
    asks="nobody",
)
