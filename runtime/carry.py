"""What one pass of a team's agents gives to the next, as text that they read in their question."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .runners.protocol import Report

__all__ = ["NOTHING", "Carried", "Carry"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Carried:
    """What one agent reads beside its task and the reports of those that worked before it.

    Attributes:
        own: What it said itself, when it worked last.
        letters: What colleagues answered since, in the order in which they are shown.
        bulletin: What everyone is told.
    """

    own: Report | None = None
    letters: tuple[Report, ...] = ()
    bulletin: str = ""

    def __bool__(self) -> bool:
        return bool(self.own or self.letters or self.bulletin)


@dataclass(frozen=True, kw_only=True, slots=True)
class Carry:
    """What is carried into a pass, for all its agents.

    Attributes:
        own: Each agent's own last contribution. Its patch is where the agent's workspace starts,
            unless exactly one patch reached it in this pass.
        letters: What colleagues answer to each agent.
        bulletin: What everyone is told.
    """

    own: Mapping[str, Report] = field(default_factory=dict[str, "Report"])
    letters: Mapping[str, tuple[Report, ...]] = field(
        default_factory=dict[str, "tuple[Report, ...]"]
    )
    bulletin: str = ""

    def of(self, agent_id: str) -> Carried:
        """Give one agent's part."""
        return Carried(
            own=self.own.get(agent_id),
            letters=self.letters.get(agent_id, ()),
            bulletin=self.bulletin,
        )


NOTHING = Carry()
