"""A dream's first phase: a diagnosis of a member's own work (EvoChamber §3.5).

It is private: no other member's work is shown. The contrast phase reads the diagnosis.
"""

from __future__ import annotations

import functools

from .....schema.edits.offer.strict import closed, free_text
from .....schema.team.task import Task
from ....core.material import material, task_text
from ....core.meta import OperatorModel, Question, prompt
from ....core.operator import Operator
from ....core.proposal import RejectedProposal
from ..wording import one_text
from ..work import MemberWork
from .ideas import LONGEST_IDEA

OPERATOR = "dream_reflect"


async def dream_reflect(
    model: OperatorModel, path: str, task: Task, work: MemberWork
) -> str | RejectedProposal:
    """Ask for a diagnosis of a member's own work."""
    limits = model.limits
    longest = min(LONGEST_IDEA, limits.characters)
    question = Question(
        operator=OPERATOR,
        instructions=prompt(
            OPERATOR, agent=work.agent, longest=longest, has_own=work.score is not None
        ),
        material=material(task_text(task, limits), work.text(limits)),
        schema=closed(diagnosis=free_text(longest)),
        read=functools.partial(one_text, "diagnosis", longest, limits),
        inputs={"task": task, "work": work},
    )
    return await model.ask(path, question)


DREAM_REFLECT = Operator(
    name=OPERATOR,
    scale="agent",
    act=dream_reflect,
    about="Let a model say what went right and wrong in an agent's own work. It sees neither the"
    " reference answer nor other agents' work.",
    inputs={"work": "scored_work"},
    gives="words",
)
