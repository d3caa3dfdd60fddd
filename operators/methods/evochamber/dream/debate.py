"""A dream's fourth phase: members criticise the ideas (EvoChamber §3.5)."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import Any

from .....schema.edits.offer.strict import ANY_TEXT, closed
from .....schema.team.task import Task
from ....core.answers import reason_schema, structured
from ....core.bounds import Bounds
from ....core.material import fenced, material, task_text
from ....core.meta import OperatorModel, Question, prompt
from ....core.operator import Operator
from ....core.proposal import RejectedProposal
from ..wording import words
from ..work import MemberWork
from .ideas import Idea, Opinion, Opinions

OPERATOR = "dream_debate"


async def dream_debate(
    model: OperatorModel, path: str, task: Task, work: MemberWork, ideas: Sequence[Idea]
) -> Opinions | RejectedProposal:
    """Ask a member to criticise ideas from its point of view, and to say which to drop.

    Args:
        work: The member's work. Its persona and diagnosis are shown.
    """
    limits = model.limits
    question = Question(
        operator=OPERATOR,
        instructions=prompt(OPERATOR, agent=work.agent),
        material=material(
            task_text(task, limits),
            work.outline(limits),
            *(idea_text(number, idea) for number, idea in enumerate(ideas, 1)),
        ),
        schema=_schema(reason_schema(limits), len(ideas)),
        read=functools.partial(_read, work.agent, len(ideas), limits),
        inputs={"task": task, "work": work, "ideas": ideas},
    )
    return await model.ask(path, question)


def idea_text(number: int, idea: Idea) -> str:
    """Return an idea as shown to a model, with its number."""
    kinds = f"\nFor: {', '.join(idea.niches)}" if idea.niches else ""
    return fenced("strategy", f"{idea.text}{kinds}", str(number))


def _schema(reason: Mapping[str, Any], many: int) -> Mapping[str, Any]:
    fields = closed(reason=reason, keep={"type": "boolean"})
    return closed(**{f"strategy_{number}": fields for number in range(1, many + 1)})


def _read(agent: str, many: int, bounds: Bounds, answer: str) -> Opinions:
    of = structured(answer, _schema(ANY_TEXT, many), bounds)
    listed = (of[f"strategy_{number}"] for number in range(1, many + 1))
    opinions = (
        Opinion(keep=item["keep"], reason=words(item["reason"], bounds.reason)) for item in listed
    )
    return Opinions(agent=agent, opinions=tuple(opinions))


DREAM_DEBATE = Operator(
    name=OPERATOR,
    scale="agent",
    act=dream_debate,
    about="Let a model criticise strategies from an agent's point of view, and say which to drop."
    " `dream_crystallize` reads the opinions.",
    gives="words",
)
