"""A dream's last phase: insights, each with its scope (EvoChamber §3.5)."""

from __future__ import annotations

import functools
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .....schema.edits.offer.strict import ANY_TEXT, among, array, closed, free_text
from .....schema.team.task import Task
from ....core.answers import InvalidAnswer, structured
from ....core.bounds import Bounds
from ....core.material import fenced, material, task_text
from ....core.meta import OperatorModel, Question, prompt
from ....core.operator import Operator, OperatorSetting
from ....core.proposal import RejectedProposal
from ..lifecycle.fusing import LONGEST_ENTRY
from ..wording import required_text
from .debate import idea_text
from .ideas import INSIGHTS, LEVELS, Idea, Insight, Level
from .imagine import niches_text
from .rules import gives_away

OPERATOR = "dream_crystallize"


async def dream_crystallize(
    model: OperatorModel,
    path: str,
    task: Task,
    ideas: Sequence[Idea],
    *,
    criticism: Sequence[Sequence[str]] = (),
    answers: Collection[str] = (),
    niches: Sequence[str],
    most: int = INSIGHTS,
) -> tuple[Insight, ...] | RejectedProposal:
    """Turn the surviving ideas into insights, each with its scope.

    Args:
        ideas: The ideas that survived the debate, at least one.
        answers: The conclusions of right answers; an insight that contains one is invalid.
        niches: The known kinds of task; empty if tasks have none.

    Returns:
        Insights, each with the niche that its level needs: the task's own, a known one, or none.
    """
    limits = model.limits
    longest = min(LONGEST_ENTRY, limits.characters)
    form = _InsightForm(
        task=task, ideas=ideas, answers=answers, niches=niches, most=most, longest=longest
    )
    question = Question(
        operator=OPERATOR,
        instructions=prompt(OPERATOR, most=most, longest=longest, niches=bool(niches)),
        material=material(
            task_text(task, limits), *_ideas_text(ideas, criticism), niches_text(niches)
        ),
        schema=form.schema(free_text(longest)),
        read=functools.partial(form.read, limits),
        inputs={"task": task, "ideas": ideas, "niches": niches, "most": most},
    )
    return await model.ask(path, question)


def _ideas_text(ideas: Sequence[Idea], criticism: Sequence[Sequence[str]]) -> list[str]:
    shown: list[str] = []
    for number, idea in enumerate(ideas, 1):
        reasons = criticism[number - 1] if criticism else ()
        lines = "\n".join(f"- {reason}" for reason in reasons if reason)
        shown += [idea_text(number, idea), fenced("criticism", lines, str(number))]
    return shown


@dataclass(frozen=True, kw_only=True, slots=True)
class _InsightForm:
    """The form of a valid answer."""

    task: Task
    ideas: Sequence[Idea]
    answers: Collection[str]
    niches: Sequence[str]
    most: int
    longest: int

    def schema(self, text: Mapping[str, Any]) -> Mapping[str, Any]:
        levels = [level for level in LEVELS if self.niches or level != "subdomain"]
        fields: dict[str, Any] = {
            "strategy": {"type": "integer", "minimum": 1, "maximum": len(self.ideas)},
            "text": text,
            "level": among(levels),
        }
        if self.niches:
            fields["niche"] = among(self.niches)
        return closed(insights=array(closed(**fields), self.most, least=1))

    def read(self, bounds: Bounds, answer: str) -> tuple[Insight, ...]:
        listed = structured(answer, self.schema(ANY_TEXT), bounds)["insights"]
        insights = [
            Insight(
                text=self._text(item["text"]),
                level=item["level"],
                niche=self._scope(item["level"], item.get("niche")),
                of=self.ideas[item["strategy"] - 1].of,
            )
            for item in listed
        ]
        return tuple(
            {(insight.text, insight.level, insight.niche): insight for insight in insights}.values()
        )

    def _text(self, text: str) -> str:
        line = required_text("text", text, self.longest)
        if gives_away(line, self.answers):
            raise InvalidAnswer("text: it gives away an answer to the task. Say how to find it.")
        return line

    def _scope(self, level: Level, niche: str | None) -> str | None:
        match level:
            case "task":
                return self.task.niche or None
            case "subdomain":
                return niche
            case "cross_domain":
                return None


DREAM_CRYSTALLIZE = Operator(
    name=OPERATOR,
    scale="team",
    act=dream_crystallize,
    about="Let a model turn strategies into insights, each with its scope. None of them is"
    " verified.",
    inputs={
        "ideas": "surviving_ideas",
        "criticism": "criticism",
        "most": OperatorSetting(about="The most results.", least=1),
    },
    gives="words",
)
