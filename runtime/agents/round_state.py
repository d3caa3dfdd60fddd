"""What one pass of a team's agents gives to the next, as text that they read."""

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
    """What an agent is told about who takes part.

    Attributes:
        kind: What it is: the catalogue that it chooses from, the seats that it may fill, or the
            seat that it was given.
        text: The catalogue, or what was said of its seat.
    """

    kind: Literal["catalogue", "seats", "seat"]
    text: str = ""
    most: int = 0


@dataclass(frozen=True, kw_only=True, slots=True)
class AgentState:
    """What one agent reads beside its task and the reports of those that worked before it.

    Attributes:
        own: What it said itself, when it worked last; its whole opinion, where it consults.
        letters: What colleagues answered since, in the order in which they are shown.
        notice: What it is told about who takes part.
        consults: Whether it is to say only what is new in its opinion.
        earlier: Its own conversation so far, as messages of text, without instructions. Its model
            is shown it before what the agent reads now; see `conversation`.
        mail: What it reads in a turn of an open roster, and knows of its team; None elsewhere.
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
    """What is carried into a pass, for all its agents.

    Attributes:
        own: Each agent's own last contribution. Its workspace starts from the changes in it,
            beside those that reach it in this pass.
        letters: What colleagues answer to each agent.
        bulletin: What everyone is told; where some consult, these alone.
        notices: What agents are told about who takes part.
        consulting: The agents that say only what is new in their opinion.
        earlier: Each agent's own conversation so far, where it goes on; see `conversation.earlier`.
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
