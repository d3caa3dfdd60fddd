"""Chance: answers to what operators ask that no model gave.

The control of every experiment with models as operators: what their answers are worth is how much
more they gain than these, to the same questions and under the same ceiling. `Chance` stands where
a model does, so `decide`, `instantiate`, `mutate` and `crossover` are the same with either.
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
"""As many edits as a model makes of a component, give or take; more would mostly exclude each
other."""
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
"""What people add to a prompt when they know nothing of the task."""

Answered = TypeVar("Answered")


@dataclass(frozen=True, kw_only=True, slots=True)
class Chance(OperatorModel):
    """Answers by values that are drawn from all that a question lets through.

    What makes no valid child is drawn again. The same for the same seed, path and question.

    Attributes:
        bounds: By default those of a large model, but for few edits at once.
    """

    bounds: Bounds | None = FEW
    seed: int = 0

    async def ask(self, path: str, question: Question[Answered]) -> Answered | RejectedProposal:
        """Answer a question; see `answer`."""
        return self.answer(path, question)

    def answer(self, path: str, question: Question[Answered]) -> Answered | RejectedProposal:
        """Answer a question, or give up after some draws of which none made anything of use."""
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
    """Make a child by edits of one component that are drawn at random; no model is asked.

    Args:
        team: The parent. It stays as it is.
        ceiling: What the child may ask for at most.

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
    """Make a child by edits that are drawn at random; see `chance`, whose path is empty here.

    Args:
        path: Not used: the same team, component and seed give the same child.
    """
    del path
    return chance(
        team, component, meta_model.catalogue, meta_model.ceiling, seed=meta_model.seed, edits=edits
    )


def _texts(team: Team, catalogue: Catalogue) -> dict[str, str]:
    """Return the texts of the prompts of agents that ask a model."""
    return {
        agent.id: (catalogue.prompt(agent.prompt) or "")
        if is_prompt_id(agent.prompt)
        else agent.prompt
        for agent in team.agents.values()
        if team.asks_model(agent)
    }


def _reworded(value: Any, texts: Mapping[str, str], source: random.Random) -> Any:
    """Put blind changes of the prompts that are there in the place of those that were drawn."""
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
    """Change a prompt blindly: sentences go, come, change places, or are another agent's."""
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
    """End what reads like the id of a prompt file with a line break: then it is text."""
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
