"""Acts: what an agent of an open roster does to its team in a turn."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Act", "Finalize", "Send", "Start", "Stop", "Terminate"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Send:
    """Writes to a colleague who is active."""

    to: str
    text: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Start:
    """Has a candidate join, which reads the text first."""

    agent: str
    text: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Stop:
    """Has a colleague leave, once it has ended the turn that it is in."""

    agent: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Finalize:
    """Hands in the team's answer, and so ends the run."""

    answer: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Terminate:
    """Gives up, and so ends the run without an answer."""

    reason: str


Act = Send | Start | Stop | Finalize | Terminate
"""What one of the tools under `coterie.schema.team.ACTS` does; listing the pool changes nothing."""
