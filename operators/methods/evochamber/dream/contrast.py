"""A dream's second phase: how a success differs from a failure (EvoChamber §3.5)."""

from __future__ import annotations

import functools

from .....schema.edits.offer.strict import closed, free_text
from .....schema.team.task import Task
from ....core.bounds import Bounds
from ....core.material import material, task_text
from ....core.meta import OperatorModel, Question, prompt
from ....core.operator import Operator
from ....core.proposal import RejectedProposal
from ..wording import one_text
from ..work import MemberWork
from .ideas import LONGEST_IDEA, Difference

OPERATOR = "dream_contrast"


async def dream_contrast(
    model: OperatorModel, path: str, task: Task, failed: MemberWork, succeeded: MemberWork
) -> Difference | RejectedProposal:
    """Ask how one member's work differs from another's, so that its answer was better."""
    limits = model.limits
    longest = min(LONGEST_IDEA, limits.characters)
    names = {"failed": failed.agent, "succeeded": succeeded.agent}
    question = Question(
        operator=OPERATOR,
        instructions=prompt(OPERATOR, longest=longest, **names),
        material=material(task_text(task, limits), failed.text(limits), succeeded.text(limits)),
        schema=closed(difference=free_text(longest)),
        read=functools.partial(_read, failed.agent, succeeded.agent, longest, limits),
        inputs={"task": task, "failed": failed, "succeeded": succeeded},
    )
    return await model.ask(path, question)


def _read(failed: str, giver: str, longest: int, bounds: Bounds, answer: str) -> Difference:
    text = one_text("difference", longest, bounds, answer)
    return Difference(giver=giver, failed=failed, text=text)


DREAM_CONTRAST = Operator(
    name=OPERATOR,
    scale="pair",
    act=dream_contrast,
    about="Let a model say what an agent that succeeded did differently from one that failed."
    " `dream_imagine` reads the difference.",
    gives="words",
)
