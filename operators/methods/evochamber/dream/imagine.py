"""A dream's third phase: ideas that may follow from the differences (EvoChamber §3.5)."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .....schema.edits.offer.strict import ANY_TEXT, among, array, closed, free_text
from .....schema.team.task import Task
from ....core.answers import structured
from ....core.bounds import Bounds
from ....core.material import fenced, material, task_text
from ....core.meta import OperatorModel, Question, prompt
from ....core.operator import Operator, OperatorSetting
from ....core.proposal import RejectedProposal
from ..wording import required_text
from .ideas import INSIGHTS, LONGEST_IDEA, Difference, Idea

OPERATOR = "dream_imagine"


async def dream_imagine(
    model: OperatorModel,
    path: str,
    task: Task,
    differences: Sequence[Difference],
    *,
    niches: Sequence[str],
    most: int = 2 * INSIGHTS,
) -> tuple[Idea, ...] | RejectedProposal:
    """Imagine strategies that follow from the differences, or from a shared failure.

    Args:
        differences: The differences between successes and failures, at least one; without a
            success, the faults that members found in their own work.
        niches: The known kinds of task; empty if tasks have none.
    """
    limits = model.limits
    longest = min(LONGEST_IDEA, limits.characters)
    shared = all(difference.giver == difference.failed for difference in differences)
    form = _IdeasForm(of=differences, niches=niches, most=most, longest=longest)
    question = Question(
        operator=OPERATOR,
        instructions=prompt(
            OPERATOR, most=most, longest=longest, niches=bool(niches), shared=shared
        ),
        material=material(
            task_text(task, limits),
            *(
                fenced("difference", difference.text, str(n))
                for n, difference in enumerate(differences, 1)
            ),
            niches_text(niches),
        ),
        schema=form.schema(free_text(longest)),
        read=functools.partial(form.read, limits),
        inputs={"task": task, "differences": differences, "niches": niches, "most": most},
    )
    return await model.ask(path, question)


def niches_text(niches: Sequence[str]) -> str:
    """Return the known kinds of task as shown to a model; "" if there are none."""
    return fenced("niches", "\n".join(niches))


@dataclass(frozen=True, kw_only=True, slots=True)
class _IdeasForm:
    of: Sequence[Difference]
    niches: Sequence[str]
    most: int
    longest: int

    def schema(self, text: Mapping[str, Any]) -> Mapping[str, Any]:
        fields: dict[str, Any] = {
            "difference": {"type": "integer", "minimum": 1, "maximum": len(self.of)},
            "strategy": text,
        }
        if self.niches:
            fields["niches"] = array(among(self.niches), len(self.niches), least=None)
        return closed(ideas=array(closed(**fields), self.most, least=1))

    def read(self, bounds: Bounds, answer: str) -> tuple[Idea, ...]:
        ideas = [
            Idea(
                text=required_text("strategy", idea["strategy"], self.longest),
                niches=tuple(dict.fromkeys(idea.get("niches", ()))),
                of=self.of[idea["difference"] - 1],
            )
            for idea in structured(answer, self.schema(ANY_TEXT), bounds)["ideas"]
        ]
        return tuple({idea.text: idea for idea in ideas}.values())


DREAM_IMAGINE = Operator(
    name=OPERATOR,
    scale="team",
    act=dream_imagine,
    about="Let a model imagine strategies that follow from the difference."
    " `dream_debate` and `dream_crystallize` read them.",
    inputs={"most": OperatorSetting(about="The most results.", least=1)},
    gives="words",
)
