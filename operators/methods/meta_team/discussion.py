"""Discussions after a task, in which each agent continues its own conversation.

In a pair, both agents report on their work together, concurrently (L2). A team discusses its rules
and its organisation, in turn: each agent reads the earlier statements (L3). A speaker knows its own
work, and the others' work only from their statements.
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
"""The calls reserved for the decision: an answer and its repair."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Statement:
    """A statement of an agent to its team."""

    agent: str
    text: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Discussion:
    """The statements of a team's discussion, and the answers that were rejected."""

    statements: tuple[Statement, ...] = ()
    rejected: tuple[RejectedProposal, ...] = ()

    @property
    def text(self) -> str:
        """The statements, each in its fence."""
        return material(*(fenced("statement", each.text, each.agent) for each in self.statements))


def lead_of(team: Team, run: Run) -> str | None:
    """Return the agent that decides for a team: the lead of an open roster, else the output agent.

    Returns:
        Its id; None if it has no conversation to continue.
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
    """Ask an agent for a short statement, in the next turn of its own conversation.

    Args:
        also: What the agent reads in addition to the task's feedback.
        may_pass: Whether the statement may be empty.
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
    """Run a team's discussion of its rules and its organisation, before its lead decides (L3).

    In the first round every participant speaks except the lead. In later rounds, an agent speaks if
    a colleague has named it since its last statement. The discussion stops before it uses up the
    calls for the decision.

    Args:
        ground: The team, with the notes that agents and pairs have made since the run.
        findings: What everybody reads: the team's rules, and the findings of agents and pairs.
        rounds: The most rounds. 0: no discussion.
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
    """Return whether a colleague has named an agent since its last statement."""
    statements: Sequence[Statement] = discussion.statements
    last = max((n for n, each in enumerate(statements) if each.agent == agent), default=-1)
    name = re.compile(rf"\b{re.escape(agent)}\b")
    return any(name.search(each.text) for each in statements[last + 1 :])
