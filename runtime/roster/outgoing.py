"""The acts that a turn of an open roster sends when it ends, and the refused ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..agents.acts import Finalize, Send, Start, Stop, Terminate, TurnAnswer
from ..agents.outcomes import Kind, Posted

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..agents.acts import Act
    from .bus import Bus


def outgoing(bus: Bus, agent: str, turn: int, acts: Iterable[Act]) -> tuple[Posted, ...]:
    """Return the acts that a turn sends as it ends, and the refused ones.

    No act follows the one that ends the run, nor a message beyond the limit.
    """
    going = _Outgoing(bus, agent, turn)
    for act in acts:
        going.add(act)
        if going.is_over:
            break
    return tuple(going.posted)


def failing(bus: Bus, agent: str, turn: int, error: str) -> tuple[Posted, ...]:
    """Return the notices of a failed turn: to the senders of its mail, and to its starter.

    Only active agents receive one.
    """
    writers = (bus.posted[number - 1].sender for number in bus.at_work[agent].messages)
    going = _Outgoing(bus, agent, turn)
    for name in dict.fromkeys((*writers, bus.active.get(agent, ""))):
        if name != agent and name in bus.active:
            going.post("failed", name, error)
    return tuple(going.posted)


class _Outgoing:
    """The acts of one turn; each is checked against the team that the acts before it have left."""

    def __init__(self, bus: Bus, agent: str, turn: int) -> None:
        self.posted: list[Posted] = []
        self.is_over = False
        self._bus, self._agent, self._turn = bus, agent, turn
        self._active = {*bus.active}
        self._present = self._active - bus.leaving
        self._sent = bus.sent

    def add(self, act: Act) -> None:
        """Send an act, or record why it is refused."""
        match act:
            case Send():
                self._send("message", act.to, act.text, self._unheard(act.to))
            case TurnAnswer():
                self._answer(act)
            case Start():
                self._start(act)
            case Stop():
                self._stop(act)
            case Finalize():
                self.post("finalize", "", act.answer)
                self.is_over = True
            case Terminate():
                self.post("terminate", "", act.reason)
                self.is_over = True

    def _answer(self, act: TurnAnswer) -> None:
        """Send the turn's result to the agent that asked, unless that agent has left."""
        if act.to in self._present and act.to != self._agent:
            self._send("answer", act.to, act.text, "")

    def _start(self, act: Start) -> None:
        why = self._cannot_start(act.agent)
        if self._send("start", act.agent, act.text, why):
            self._active.add(act.agent)
            self._present.add(act.agent)

    def _send(self, kind: Kind, to: str, text: str, why: str) -> bool:
        if why:
            what = "your message to" if kind == "message" else "starting"
            self.post("refused", self._agent, f"{what} {to}: {why}")
        elif self._sent >= self._bus.roster.messages:
            self.post("unsent", to, text)
            self.is_over = True
        else:
            self.post(kind, to, text)
            self._sent += 1
            return True
        return False

    def _stop(self, act: Stop) -> None:
        if act.agent == self._bus.roster.lead:
            why = "it leads, and cannot be stopped."
        elif act.agent not in self._present:
            why = self._unknown(act.agent) or "it is not active."
        else:
            self.post("stop", act.agent)
            self._present.discard(act.agent)
            self._active -= {act.agent} - self._bus.at_work.keys()
            return
        self.post("refused", self._agent, f"stopping {act.agent}: {why}")

    def _unheard(self, to: str) -> str:
        if to == self._agent:
            return "that is you."
        if to in self._present:
            return ""
        return self._unknown(to) or "it is not active. Start it first."

    def _cannot_start(self, agent: str) -> str:
        if agent in self._present:
            return "it is active already. Write to it."
        if why := self._unknown(agent):
            return why
        most = self._bus.roster.alive
        if agent not in self._active and len(self._active) >= most:
            return f"{most} agents are active, which is the most. Stop one first."
        return ""

    def _unknown(self, agent: str) -> str:
        return "" if agent in self._bus.candidates else "there is no such agent in this team."

    def post(self, kind: Kind, to: str, text: str = "") -> None:
        """Send a message."""
        number = len(self._bus.posted) + len(self.posted) + 1
        sender, turn = ("", 0) if kind == "refused" else (self._agent, self._turn)
        self.posted.append(
            Posted(number=number, sender=sender, to=to, kind=kind, text=text, turn=turn)
        )
