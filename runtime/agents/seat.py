"""An agent's place in an open roster: its available acts, and their expected effect.

An agent's acts take effect after its turn. Until then, replies rest on what is known: the team when
the turn began, and the agent's acts since.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ...schema.team.team import ACTS
from ...schema.values.hints import did_you_mean
from ...schema.values.problems import quoted
from ...schema.values.terminal import on_one_line
from ..tools import ToolError
from .acts import Finalize, Send, Start, Stop, Terminate

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ...schema.team.team import Team
    from .acts import Act
    from .posted import Mail

MOST_ACTS = 40
"""The most acts of one turn."""
LARGEST_TEXT = 20_000
"""The most characters of one message."""
LARGEST_ANSWER = 100_000
"""The most characters of the final answer: as many as a tool may return."""
EVERYBODY = ("list_pool", "start_agent", "send", "stop_agent")
"""The acts of agents other than the lead, which may do everything."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Seat:
    """An agent's place in an open roster, as its turn begins."""

    team: Team
    agent: str
    mail: Mail

    @property
    def leads(self) -> bool:
        """Whether it is the lead."""
        return self.agent == self.lead

    @property
    def lead(self) -> str:
        """The lead's id."""
        roster = self.team.execution.roster
        return roster.lead if roster else ""

    @property
    def may(self) -> tuple[str, ...]:
        """Return its available acts in this turn; none if it hands in.

        Every agent may let agents join whose expertise it turns out to need (Meta-Team App. D), and
        may leave. Only the lead, which answers for the whole, may end the run or another agent's
        work. Otherwise one message that misled one agent could end every run.
        """
        if self.mail.hands_in:
            return ()
        return ACTS if self.leads else EVERYBODY

    @property
    def form(self) -> Mapping[str, Any] | None:
        """The schema for the agent: of the team's answer if it leads, else its own."""
        return self.team.agents[self.agent].output_schema

    @property
    def report(self) -> Mapping[str, Any] | None:
        """The schema of this turn's result; the lead has one only when it hands in."""
        return None if self.leads and not self.mail.hands_in else self.form

    @property
    def startable(self) -> tuple[str, ...]:
        """Return the agents that can join."""
        others = tuple(candidate for candidate in self.mail.candidates if candidate != self.agent)
        return others if self.mail.places_left else ()

    @property
    def stoppable(self) -> tuple[str, ...]:
        """Return the agents that it can remove: others for the lead, only itself for the rest."""
        return self.colleagues if self.leads else (self.agent,)

    @property
    def colleagues(self) -> tuple[str, ...]:
        """Return the other active agents, in the order in which they joined."""
        return tuple(name for name in self.mail.active if name != self.agent)

    def pool(self) -> list[dict[str, Any]]:
        """Return the team's agents with their public data: role and tools.

        An agent's prompt and memory are its own.
        """
        active = {*self.mail.active}
        return [
            {
                "agent": agent.id,
                "role": on_one_line(agent.role),
                "tools": [*agent.tools],
                "active": agent.id in active,
                "you": agent.id == self.agent,
            }
            for agent in self.team.agents.values()
        ]

    def reply(self, acts: Sequence[Act], act: Act) -> str:
        """Return the expected effect of an act, as far as it can be known.

        Args:
            acts: The agent's earlier acts in this turn.

        Raises:
            ToolError: The act is impossible; the message helps the model.
        """
        if any(isinstance(item, Finalize | Terminate) for item in acts):
            raise ToolError("you have ended the team's work already. End your turn.")
        if len(acts) >= MOST_ACTS:
            raise ToolError(f"{MOST_ACTS} acts are the most in one turn. End your turn.")
        match act:
            case Send():
                self._check_send(acts, act)
                return f"{act.to} reads it when your turn has ended."
            case Start():
                self._check_start(acts, act)
                return f"{act.agent} starts when your turn has ended."
            case Stop():
                self._check_stop(acts, act)
                return f"{act.agent} leaves when your turn has ended."
            case Finalize():
                _check_text(act.answer, LARGEST_ANSWER)
                return "It is handed in when your turn has ended. End it."
            case _:
                return "The team's work ends when your turn has ended. End it."

    def _check_send(self, acts: Sequence[Act], act: Send) -> None:
        _check_text(act.text, LARGEST_TEXT)
        if act.to == self.agent:
            raise ToolError("that is you.")
        if act.to not in self._present(acts):
            raise ToolError(self._unknown(act.to) or f"{act.to} is not active. Start it first.")
        self._check_room(acts)

    def _check_start(self, acts: Sequence[Act], act: Start) -> None:
        _check_text(act.text, LARGEST_TEXT)
        present = self._present(acts)
        if act.agent in present:
            raise ToolError(f"{act.agent} is active already. Write to it with send.")
        if why := self._unknown(act.agent):
            raise ToolError(why)
        # A place that an agent will leave counts as free; this is settled when the turn ends.
        free = self.mail.places_left + len(self.mail.active) - len(present)
        if free <= 0:
            raise ToolError(f"{len(present)} agents are active, which is the most.")
        self._check_room(acts)

    def _check_stop(self, acts: Sequence[Act], act: Stop) -> None:
        if act.agent == self.lead:
            raise ToolError(f"{act.agent} leads, and cannot be stopped.")
        if why := self._unknown(act.agent):
            raise ToolError(why)
        if act.agent not in {*self.stoppable} and not self.leads:
            raise ToolError(f"only {self.lead} stops others. You may stop yourself.")
        if act.agent not in self._present(acts):
            raise ToolError(f"{act.agent} is not active.")

    def _check_room(self, acts: Sequence[Act]) -> None:
        if sum(isinstance(act, Send | Start) for act in acts) >= self.mail.messages_left:
            raise ToolError("the team may send no more messages.")

    def _present(self, acts: Sequence[Act]) -> set[str]:
        """Return the agents active after the turn, as far as this agent's acts decide it."""
        present = {*self.mail.active}
        for act in acts:
            if isinstance(act, Start):
                present.add(act.agent)
            elif isinstance(act, Stop):
                present.discard(act.agent)
        return present

    def _unknown(self, agent: str) -> str:
        agents = self.team.agents
        if agent in agents:
            return ""
        return f"nobody here is called {quoted(agent[:80])}.{did_you_mean(agent[:80], agents)}"


def _check_text(text: str, most: int) -> None:
    if not text.strip():
        raise ToolError("it says nothing.")
    if len(text) > most:
        raise ToolError(f"it has {len(text):,} characters, and {most:,} are the most.")
