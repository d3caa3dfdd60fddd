"""What an open roster's run comes to, summed up over the turns of its agents."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from ..agents.outcomes import AgentOutcome, Ending
from ..values.usage import Usage

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from ...schema.team.team import Roster
    from ..agents.posted import Ended
    from ..tools import ToolCall
    from .bus import Bus


@dataclass(kw_only=True, eq=False)
class _Account:
    """What one agent took in all its turns, and its last result."""

    last: AgentOutcome
    usage: Usage = field(default_factory=Usage)
    seconds: float = 0.0
    attempts: int = 0
    warnings: dict[str, None] = field(default_factory=dict[str, None])
    tool_calls: list[ToolCall] = field(default_factory=list["ToolCall"])

    def add(self, outcome: AgentOutcome) -> None:
        self.usage += outcome.usage
        self.seconds += outcome.seconds
        self.attempts += outcome.attempts
        self.warnings |= dict.fromkeys(outcome.mishaps)
        self.tool_calls += outcome.tool_calls
        if outcome.status != "cancelled":
            self.last = outcome

    def outcome(self) -> AgentOutcome:
        return replace(
            self.last,
            usage=self.usage,
            seconds=self.seconds,
            attempts=self.attempts,
            mishaps=tuple(self.warnings),
            tool_calls=tuple(self.tool_calls),
        )


class Accounts:
    """What the agents of a run took and came to, turn by turn."""

    def __init__(self) -> None:
        self._of: dict[str, _Account] = {}

    def add(self, agent: str, outcome: AgentOutcome) -> None:
        """Count a turn. One that was cut off leaves the previous result of the agent."""
        self._of.setdefault(agent, _Account(last=outcome)).add(outcome)

    @property
    def usage(self) -> Usage:
        """What all of them took."""
        return sum((account.usage for account in self._of.values()), Usage())

    def outcomes(self, agents: Iterable[str]) -> Mapping[str, AgentOutcome]:
        """Return the result of each agent; one that was never active took no part."""
        skipped = AgentOutcome(status="skipped")
        return {
            agent: self._of[agent].outcome() if agent in self._of else skipped for agent in agents
        }


def ending_of(bus: Bus, ended: Ended) -> Ending:
    """Return how a run ended, with what there is to count."""
    turns = {
        candidate: bus.turns[candidate] for candidate in bus.candidates if bus.turns[candidate]
    }
    return Ending(why=ended.why, by=ended.by, turns=turns, sent=bus.sent, unread=bus.unread)


def ended_by(ended: Ended, roster: Roster, timeout: float) -> str:
    """Say in words why work ended that came to no answer."""
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
