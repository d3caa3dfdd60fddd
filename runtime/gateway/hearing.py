"""What a request brings while it is under way."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from .chat import ChatAnswer

__all__ = ["Hearing", "unheard"]


def unheard(*_: object) -> None:
    """Listen to nothing."""


@dataclass(kw_only=True, slots=True)
class Hearing:
    """Told by a client what comes of one request, before the answer is whole.

    Attributes:
        on_bytes: Called when something came of an answer that comes in pieces; with whether the
            answer went on, or that was just a sign of life.
        on_words: Called with the words that came, for people who watch.
        received: Gives what came until now as an answer, where an answer has begun to come; it
            raises CallError where that is none.
    """

    on_bytes: Callable[[bool], None] = unheard
    on_words: Callable[[str], None] = unheard
    received: Callable[[], ChatAnswer] | None = None
