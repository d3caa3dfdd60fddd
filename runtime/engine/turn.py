"""One agent's turn in an open roster: what it reads, and how it acts."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from ...schema.values.terminal import on_one_line
from ..agents.acting import WHAT, WHOM, acting
from ..agents.seat import Seat
from ..gateway.chat.dialogue import clipped
from ..messages.messages import fence
from ..prompts import render

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ...schema.team.team import Team
    from ..agents.outcomes import Posted
    from ..agents.posted import Mail
    from ..agents.runner import Assignment
    from ..plan.plan import PlannedAgent

MOST_READ = 60_000
"""The most characters of one turn's mail. Beyond that, the longest messages lose their middle."""

ActsBy = Literal["tools", "object", "report"]
"""How an agent acts: by tools; by the object that it answers with; or not at all: its result goes
to the agents that asked, and has no other effect."""


@dataclass(frozen=True, kw_only=True, slots=True)
class AgentTurn:
    """A turn of one agent.

    Attributes:
        takes_tools: Whether its backend lets it use tools.
        planned: The agent without its output schema, which here applies to the final answer if it
            leads, and else to its report.
    """

    seat: Seat
    by: ActsBy
    takes_tools: bool
    planned: PlannedAgent

    def instructions(self, text: str) -> str:
        """Add to an agent's instructions how it works with its team."""
        seat = self.seat
        acts = [
            (name, [f"`{word}`" for word in WHOM[name]], WHAT[name])
            for name in seat.may
            if name != "list_pool"
        ]
        rules = render(
            "roster",
            agent=seat.agent,
            lead=seat.lead,
            leads=seat.leads,
            by=self.by,
            acts=acts,
            form=json.dumps(seat.form) if seat.form else "",
        )
        return f"{text}\n\n{rules}"

    def news(self) -> str:
        """Return the new information: the mail, each message fenced, and the team's state.

        The task is not mail: it is in the question itself. An agent that acts by an object has no
        tool to list the team's members, so they are included.
        """
        seat, mail = self.seat, self.seat.mail
        read = [message for message in mail.messages if message.kind != "task"]
        texts = clipped([posted.text for posted in read], MOST_READ)
        return render(
            "mail",
            mail=[_letter(seat, posted, text) for posted, text in zip(read, texts, strict=True)],
            hands_in=mail.hands_in,
            pool=seat.pool() if self.by == "object" else (),
            active=[f"{name} (you)" if name == seat.agent else name for name in mail.active],
            places_left=mail.places_left,
            messages_left=mail.messages_left,
            turns_left=mail.turns_left,
        )

    def tool_inputs(self) -> Mapping[str, Any]:
        """Return the further inputs of its tools' answers, for the digest of its question."""
        return {**asdict(self.seat.mail), "messages": len(self.seat.mail.messages)}

    def assigned(self, assignment: Assignment) -> Assignment:
        """Let an agent act on its team in an attempt at the turn; no tools if it hands in."""
        item = assignment
        agent = replace(item.agent, output_schema=self.seat.report)
        if not self.seat.may:
            return replace(item, agent=agent, tools={})
        acts = acting(self.seat, item.workspace, item.emit, item.once)
        tools = {**item.tools, **acts.tools} if self.takes_tools else item.tools
        return replace(item, agent=agent, tools=tools, acting=acts)


def turn_of(planned: PlannedAgent, team: Team, mail: Mail) -> AgentTurn:
    """Return the turn of an agent in an open roster.

    A backend without tools may declare how its agents act, by an attribute `acts_by`.
    """
    takes = planned.takes_tools
    by: ActsBy = "tools" if takes else getattr(planned.runner, "acts_by", "report")
    seat = Seat(team=team, agent=planned.agent.id, mail=mail)
    formless = replace(planned, agent=replace(planned.agent, output_schema=None))
    return AgentTurn(seat=seat, by=by, takes_tools=takes, planned=formless)


def _letter(seat: Seat, letter: Posted, text: str) -> Mapping[str, Any]:
    agents = seat.team.agents
    role = agents[letter.sender].role if letter.sender in agents else ""
    return {
        "kind": letter.kind,
        "sender": letter.sender,
        "role": on_one_line(role).replace('"', "'"),
        "content": text,
        "fence": fence(text),
    }
