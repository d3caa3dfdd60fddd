"""The state that one pass of a team's agents gives to the next, as text for the agents."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..gateway import Message
    from .posted import Mail
    from .runner import AgentReport


@dataclass(frozen=True, kw_only=True, slots=True)
class Notice:
    """A notice to an agent about the team's members.

    Attributes:
        kind: The catalogue that it chooses from, the seats that it may fill, or the seat that it
            was given.
        text: The catalogue, or the description of its seat.
    """

    kind: Literal["catalogue", "seats", "seat"]
    text: str = ""
    most: int = 0


@dataclass(frozen=True, kw_only=True, slots=True)
class AgentState:
    """What one agent reads besides its task and its predecessors' reports.

    Attributes:
        own: Its own last contribution; its whole opinion, if it consults.
        letters: Colleagues' answers since then, in display order.
        notice: A notice about the team's members.
        consults: Whether it should report only what is new in its opinion.
        earlier: Its own conversation so far, as messages of text, without instructions. Its model
            sees it before the new prompt; see `conversation`.
        mail: What it reads in a turn of an open roster, and the state of its team; else None.
    """

    own: AgentReport | None = None
    letters: tuple[AgentReport, ...] = ()
    bulletin: str = ""
    notice: Notice | None = None
    consults: bool = False
    earlier: tuple[Message, ...] = ()
    mail: Mail | None = None

    def __bool__(self) -> bool:
        return bool(self.own or self.letters or self.bulletin or (self.notice and self.notice.text))


@dataclass(frozen=True, kw_only=True, slots=True)
class RoundState:
    """The state carried into a pass, for all its agents.

    Attributes:
        own: Each agent's own last contribution. Its workspace starts from the changes in it, and
            those that reach it in this pass.
        letters: Colleagues' answers to each agent.
        bulletin: The text for all agents; if some consult, for these only.
        notices: Notices to agents about the team's members.
        consulting: The agents that report only what is new in their opinion.
        earlier: Each agent's own conversation so far, if it continues; see `conversation.earlier`.
        mail: What each agent reads in a turn of an open roster.
    """

    own: Mapping[str, AgentReport] = field(default_factory=dict[str, "AgentReport"])
    letters: Mapping[str, tuple[AgentReport, ...]] = field(
        default_factory=dict[str, "tuple[AgentReport, ...]"]
    )
    bulletin: str = ""
    notices: Mapping[str, Notice] = field(default_factory=dict[str, Notice])
    consulting: frozenset[str] = frozenset()
    earlier: Mapping[str, tuple[Message, ...]] = field(
        default_factory=dict[str, "tuple[Message, ...]"]
    )
    mail: Mapping[str, Mail] = field(default_factory=dict[str, "Mail"])

    def of(self, agent_id: str) -> AgentState:
        """Return one agent's part."""
        consults = agent_id in self.consulting
        return AgentState(
            own=self.own.get(agent_id),
            letters=self.letters.get(agent_id, ()),
            bulletin=self.bulletin if consults or not self.consulting else "",
            notice=self.notices.get(agent_id),
            consults=consults,
            earlier=self.earlier.get(agent_id, ()),
            mail=self.mail.get(agent_id),
        )


NOTHING = RoundState()
