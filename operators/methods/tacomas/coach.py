"""The coach: what an agent did wrong in a round, and its plan for the next (TacoMAS §3.3).

The coaching becomes a note of that agent alone, because the answer names no agent. Its length, and
how much of the agent's work the coach reads, depend on the agent's weight.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from ....schema.edits import SetNote
from ....schema.edits.offer.strict import ANY_TEXT, closed, free_text
from ....schema.team.task import Task
from ....schema.team.team import Team
from ....schema.values.terminal import on_one_line
from ...core.account import RoundAccount
from ...core.answers import InvalidAnswer, child_of, structured
from ...core.bounds import Bounds
from ...core.material import CHARACTERS_PER_TOKEN, clip, fenced, material, task_text
from ...core.meta import OperatorModel, Question, prompt
from ...core.operator import Operator, OperatorSetting
from ...core.proposal import Proposal, RejectedProposal
from ...credit.contributions import Contribution, contributions

OPERATOR = "coach"
SHORTEST = 80
"""The fewest characters of coaching: agents with less room are not coached."""
ROOM = 600
"""The default for the characters of coaching."""
FORM = "What went wrong: {wrong}\nPlan: {plan}"
ROOM_OF_WRONG = 1 / 3
"""The share of the room for what went wrong; the rest is for the plan."""
TOKENS_BESIDE = 64
"""Tokens of an answer in addition to its texts."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Coaching:
    """A coach's advice to one agent.

    Attributes:
        wrong: What went wrong in its work.
        plan: What it should do in the next round.
    """

    agent: str
    wrong: str
    plan: str

    @property
    def text(self) -> str:
        """The text in the agent's notes."""
        return FORM.format(wrong=self.wrong, plan=self.plan)

    @property
    def edit(self) -> SetNote:
        """The edit that writes it into the agent's notes."""
        return SetNote(agent=self.agent, note="coaching", text=self.text)


async def coach(
    model: OperatorModel,
    path: str,
    task: Task,
    account: RoundAccount,
    *,
    agent: str,
    contribution: Contribution,
    share: float,
    room: int,
) -> Coaching | RejectedProposal:
    """Ask for advice to one agent.

    Args:
        contribution: The meta-judge's rating of the agent.
        share: How much of its work is read, relative to an equal share.
        room: The most characters of the advice, at least `SHORTEST`.
    """
    limits = model.limits
    texts = _Texts.of(room)
    before = account.team.agents[agent].notes.coaching
    read = round(share * limits.digest_tokens * CHARACTERS_PER_TOKEN)
    question = Question(
        operator=OPERATOR,
        instructions=prompt(
            OPERATOR, agent=agent, wrong=texts.wrong, plan=texts.plan, has_note=bool(before)
        ),
        material=material(
            task_text(task, limits),
            account.outline(limits),
            account.of(agent, read),
            fenced("judge", f"contribution {contribution.value:.3g}: {contribution.reason}"),
            fenced("told_before", clip(before, limits.characters)),
        ),
        schema=texts.schema,
        read=functools.partial(_read, model, account.team, agent, texts),
        inputs={"task": task, "account": account, "agent": agent, "contribution": contribution},
        parents=(account.team.name,),
    )
    bounded = replace(model, bounds=_bounds(limits, room))
    return await bounded.ask(path, question)


async def coach_alone(
    model: OperatorModel,
    path: str,
    task: Task,
    account: RoundAccount,
    *,
    agent: str,
    contribution: Contribution | None,
    room: int = ROOM,
) -> Proposal | RejectedProposal:
    """Return a team with advice in one agent's notes, outside of an adaptation.

    Args:
        contribution: The meta-judge's rating of the agent. None: the meta-judge is asked first.
    """
    if contribution is None:
        judged = await contributions(model, f"{path}/contributions", task, account)
        if isinstance(judged, RejectedProposal):
            return judged
        contribution = judged.of[agent]
    room = min(room, model.limits.characters)
    coaching = await coach(
        model, path, task, account, agent=agent, contribution=contribution, share=1, room=room
    )
    if isinstance(coaching, RejectedProposal):
        return coaching
    child = child_of(account.team, (coaching.edit,), model.catalogue, model.ceiling)
    return Proposal.of(OPERATOR, account.team, (coaching.edit,), reason=coaching.wrong, child=child)


def _bounds(limits: Bounds, room: int) -> Bounds:
    """Return bounds for an answer that fits the room, at up to one token for each character."""
    tokens = min(limits.answer_tokens, TOKENS_BESIDE + room)
    return replace(limits, answer_tokens=tokens)


@dataclass(frozen=True, kw_only=True, slots=True)
class _Texts:
    """The most characters of each part of a coaching."""

    wrong: int
    plan: int

    @classmethod
    def of(cls, room: int) -> _Texts:
        left = room - len(FORM.format(wrong="", plan=""))
        wrong = round(left * ROOM_OF_WRONG)
        return cls(wrong=wrong, plan=left - wrong)

    @property
    def schema(self) -> Mapping[str, Any]:
        return closed(wrong=free_text(self.wrong), plan=free_text(self.plan))


def _read(model: OperatorModel, team: Team, agent: str, texts: _Texts, text: str) -> Coaching:
    """Parse a coaching; texts over their limits are cut."""
    fields = structured(text, closed(wrong=ANY_TEXT, plan=ANY_TEXT), model.limits)
    wrong, plan = on_one_line(fields["wrong"]), on_one_line(fields["plan"])
    if not plan:
        raise InvalidAnswer("the plan is empty. Say what the agent is to do in the next round.")
    coaching = Coaching(agent=agent, wrong=wrong[: texts.wrong], plan=plan[: texts.plan])
    child_of(team, (coaching.edit,), model.catalogue, model.ceiling)
    return coaching


COACH = Operator(
    name="coach",
    scale="agent",
    act=coach,
    about="Let a model coach an agent: its mistakes in a run, and advice for the next. The child"
    " has the advice in the agent's notes.",
    alone=coach_alone,
    inputs={
        "agent": "asking_agent",
        "room": OperatorSetting(about="The most characters of the advice.", least=SHORTEST),
    },
)
