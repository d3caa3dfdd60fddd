"""Agents talk when a task is over, each in a further turn of its own conversation.

Two tell each other how their work together went (L2), at the same time. A team talks about its
rules and its organisation (L3), in turn: each reads what was said before it. Whoever speaks knows
its own work, and of the work of others what they say.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ....runtime.agents.outcomes import Run
from ....schema.edits.offer.strict import ANY_TEXT, closed, free_text
from ....schema.team.team import Team
from ...core.answers import InvalidAnswer, structured
from ...core.bounds import Bounds
from ...core.material import fenced, material
from ...core.meta import OperatorModel, prompt
from ...core.proposal import RejectedProposal
from .evidence.conversation import speakers
from .evidence.ground import NO_INPUTS, Ground
from .limits import Meter
from .notes import text_of

OPERATOR = "discuss"
LONGEST_STATEMENT = 400
DECISION = 2
"""Calls that are left for whoever decides: an answer and its repair."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Statement:
    """What an agent said to its team."""

    agent: str
    text: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Discussion:
    """What a team said to each other."""

    statements: tuple[Statement, ...] = ()
    rejected: tuple[RejectedProposal, ...] = ()

    @property
    def text(self) -> str:
        """The statements, each in its fence."""
        return material(*(fenced("statement", each.text, each.agent) for each in self.statements))


def lead_of(team: Team, run: Run) -> str | None:
    """Name who decides for a team: the lead of an open roster, else who answers.

    Returns:
        Its id; None where it has no conversation to go on with.
    """
    roster = team.execution.roster
    lead = roster.lead if roster else team.output
    return lead if lead in speakers(team, run) else None


async def say(
    model: OperatorModel,
    path: str,
    ground: Ground,
    agent: str,
    *,
    operator: str,
    field: str,
    instructions: str,
    longest: int,
    meter: Meter,
    also: str = "",
    may_pass: bool = False,
    inputs: Mapping[str, Any] = NO_INPUTS,
) -> str | RejectedProposal:
    """Have an agent say something in a few words, in a further turn of its own conversation.

    Args:
        field: What the words are called in the answer.
        instructions: What it is to speak about.
        also: What it reads beside what the team is told.
        may_pass: Whether it may say nothing.
        inputs: The values beside the ground and the agent.
    """

    def read(text: str) -> str:
        line = text_of(structured(text, closed(**{field: ANY_TEXT}), Bounds())[field])
        if not line and not may_pass:
            raise InvalidAnswer(f"{field}: nothing is said there. Write some words.")
        return line[:longest]

    return await ground.ask(
        model,
        path,
        agent,
        operator=operator,
        instructions=instructions,
        schema=closed(**{field: free_text(longest, least=0 if may_pass else 1)}),
        read=read,
        meter=meter,
        also=also,
        inputs=inputs,
    )


async def discuss(
    model: OperatorModel,
    path: str,
    ground: Ground,
    findings: str,
    *,
    rounds: int,
    meter: Meter,
    inputs: Mapping[str, Any] = NO_INPUTS,
) -> Discussion:
    """Have a team talk about its rules and its organisation, before its lead decides (L3).

    In the first round all who took part speak, but for the lead; later those whom a colleague has
    named since they spoke. Nobody speaks where that would leave the lead no call to decide.

    Args:
        ground: The team, with what agents and pairs have noted since it worked.
        findings: What everybody reads: the team's rules, and what agents and pairs found.
        rounds: The most rounds. 0: nobody speaks.
        meter: Counts what that takes, and the decision after it.
        inputs: The values that `findings` was written from.
    """
    lead = lead_of(ground.team, ground.run)
    members = [agent for agent in speakers(ground.team, ground.run) if agent != lead]
    discussion = Discussion()
    for number in range(1, rounds + 1):
        agents = (
            members if number == 1 else [agent for agent in members if _is_named(agent, discussion)]
        )
        for agent in agents:
            if meter.reached or meter.steps + DECISION >= meter.limits.steps:
                return discussion
            statements = discussion.statements
            longest = min(LONGEST_STATEMENT, ground.voice(model, agent).limits.characters)
            answer = await say(
                model,
                f"{path}/round {number}/{agent}",
                ground,
                agent,
                operator=OPERATOR,
                field="statement",
                instructions=prompt(
                    OPERATOR, agent=agent, longest=longest, has_statements=bool(statements)
                ),
                longest=longest,
                meter=meter,
                also=material(findings, discussion.text),
                may_pass=True,
                inputs={**inputs, "statements": statements},
            )
            discussion = _after(discussion, agent, answer)
    return discussion


def _after(before: Discussion, agent: str, answer: str | RejectedProposal) -> Discussion:
    if isinstance(answer, RejectedProposal):
        return Discussion(statements=before.statements, rejected=(*before.rejected, answer))
    spoken = (Statement(agent=agent, text=answer),) if answer else ()
    return Discussion(statements=(*before.statements, *spoken), rejected=before.rejected)


def _is_named(agent: str, discussion: Discussion) -> bool:
    """Return whether a colleague has named an agent since it spoke last."""
    statements: Sequence[Statement] = discussion.statements
    last = max((n for n, each in enumerate(statements) if each.agent == agent), default=-1)
    name = re.compile(rf"\b{re.escape(agent)}\b")
    return any(name.search(each.text) for each in statements[last + 1 :])
