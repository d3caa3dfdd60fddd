"""Progress of a request before its answer is complete."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from ..values.bounds import MOST_EVENTS

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from .chat.messages import ChatAnswer

SPARE_PIECES, PIECES_PER_TOKEN = 1_000, 8
"""Generous, because some endpoints send each character separately."""


class Tell(Protocol):
    """Records an event, with JSON-able fields."""

    def __call__(self, event: str, /, **fields: Any) -> None:
        """Record the event."""
        ...


def unheard(*_: object, **__: object) -> None:
    """Ignore all arguments."""


def most_pieces(max_tokens: int) -> int:
    """Return the most pieces, keep-alives included, in which an answer may arrive.

    The bound stops an endpoint that never ends its answer, before it is read or paid in full.
    """
    return min(MOST_EVENTS, SPARE_PIECES + PIECES_PER_TOKEN * max_tokens)


@dataclass(kw_only=True, slots=True)
class StreamSink:
    """Receives the progress of one request from a client.

    Attributes:
        on_bytes: Called with each part of a streamed response; the argument is False for a
            keep-alive.
        received: Returns the partial answer, once an answer has begun; raises CallError if it is
            invalid.
        is_cut: Whether the endpoint or its connection ended the answer too early.
        most_pieces: The most pieces of an answer before it is broken off.
        tell: Records events of interest to people, such as a question to a person and its place.
        call_id: The id of the attempt, the same in every process; for requests in batches.
    """

    on_bytes: Callable[[bool], None] = unheard
    on_words: Callable[[str], None] = unheard
    received: Callable[[], ChatAnswer] | None = None
    is_cut: bool = False
    most_pieces: int = MOST_EVENTS
    tell: Tell = unheard
    folder: Path | None = None
    call_id: str = ""
