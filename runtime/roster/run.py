"""The result of an open roster's run, summed up over the turns of its agents."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ..agents.outcomes import AgentOutcome, Ending
from ..values.usage import Usage

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from ...schema.team.team import Roster
    from ..agents.posted import Ended
    from .bus import Bus


class Accounts:
    """The usage and results of a run's agents, turn by turn."""

    def __init__(self) -> None:
        self._outcomes: dict[str, AgentOutcome] = {}

    def add(self, agent: str, outcome: AgentOutcome) -> None:
        """Count a turn. A turn that was cut off leaves the agent's previous result."""
        if before := self._outcomes.get(agent):
            outcome = replace(
                before if outcome.status == "cancelled" else outcome,
                usage=before.usage + outcome.usage,
                seconds=before.seconds + outcome.seconds,
                attempts=before.attempts + outcome.attempts,
                mishaps=tuple(dict.fromkeys((*before.mishaps, *outcome.mishaps))),
                tool_calls=(*before.tool_calls, *outcome.tool_calls),
            )
        self._outcomes[agent] = outcome

    @property
    def usage(self) -> Usage:
        """The usage of all agents."""
        return sum((outcome.usage for outcome in self._outcomes.values()), Usage())

    def outcomes(self, agents: Iterable[str]) -> Mapping[str, AgentOutcome]:
        """Return the result of each agent; one that was never active took no part."""
        skipped = AgentOutcome(status="skipped")
        return {agent: self._outcomes.get(agent, skipped) for agent in agents}


def ending_of(bus: Bus, ended: Ended) -> Ending:
    """Return how a run ended, with its figures."""
    turns = {
        candidate: bus.turns[candidate] for candidate in bus.candidates if bus.turns[candidate]
    }
    return Ending(why=ended.why, by=ended.by, turns=turns, sent=bus.sent, unread=bus.unread)


def ended_by(ended: Ended, roster: Roster, timeout: float) -> str:
    """Return in words why work ended without an answer."""
    match ended.why:
        case "messages":
            return f"the team reached its limit of {roster.messages} messages"
        case "turns":
            return f"{ended.by} reached its limit of {roster.turns} turns"
        case "seconds":
            return f"the run reached execution.timeout, {timeout:g} seconds"
        case "cost":
            return ended.text.removesuffix(".")
        case _:
            return "nobody had any mail left"
