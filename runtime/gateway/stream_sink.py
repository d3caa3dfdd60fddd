"""What a request brings while it is under way."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from ..values.bounds import MOST_EVENTS

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from .chat.messages import ChatAnswer

SPARE_PIECES, PIECES_PER_TOKEN = 1_000, 8
"""Some endpoints send each character by itself."""


class Tell(Protocol):
    """Notes an event, with JSON-able fields."""

    def __call__(self, event: str, /, **fields: Any) -> None:
        """Note it."""
        ...


def unheard(*_: object, **__: object) -> None:
    """Listen to nothing."""


def most_pieces(max_tokens: int) -> int:
    """Return in how many pieces an answer of so many tokens may come, signs of life among them.

    An endpoint that goes on and on is not read, nor paid, to the end.
    """
    return min(MOST_EVENTS, SPARE_PIECES + PIECES_PER_TOKEN * max_tokens)


@dataclass(kw_only=True, slots=True)
class StreamSink:
    """Told by a client what comes of one request, before the answer is whole.

    Attributes:
        on_bytes: Called when something came of an answer that comes in pieces; with whether the
            answer went on, or that was just a sign of life.
        on_words: Called with the words that came, for people who watch.
        received: Gives what came until now as an answer, where an answer has begun to come; it
            raises CallError where that is none.
        is_cut: Whether the answer ended too early, by its endpoint or its connection.
        most_pieces: In how many pieces the answer may come before it is broken off.
        tell: Notes what people should know meanwhile: that a person is asked, and where.
        folder: The folder of the run that asks; None: it keeps none.
        call_id: Which attempt of a call it is, in every process alike; for requests in batches.
    """

    on_bytes: Callable[[bool], None] = unheard
    on_words: Callable[[str], None] = unheard
    received: Callable[[], ChatAnswer] | None = None
    is_cut: bool = False
    most_pieces: int = MOST_EVENTS
    tell: Tell = unheard
    folder: Path | None = None
    call_id: str = ""
