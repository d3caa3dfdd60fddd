"""What is done about a conversation that is longer than a model's context."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..gateway import Message

SHORTEST = 2_000
"""Characters of a message that are always left."""


def trimmed(messages: Sequence[Message]) -> tuple[list[Message], int]:
    """Halve the longest text among messages, by its middle, and say so in its place.

    Returns:
        The messages, and the number of characters that were left out: 0 where none is long enough.
    """
    lengths = [len(_text(message)) for message in messages]
    longest = max(range(len(lengths)), key=lengths.__getitem__, default=0)
    if not lengths or lengths[longest] <= SHORTEST:
        return list(messages), 0
    text = _text(messages[longest])
    kept = max(SHORTEST, len(text) // 2) // 2
    left_out = len(text) - 2 * kept
    note = f"\n[… {left_out:,} characters left out: too long for the model …]\n"
    if left_out <= len(note):  # the note would take what it gives
        return list(messages), 0
    shorter: dict[str, Any] = {**messages[longest], "content": text[:kept] + note + text[-kept:]}
    return [*messages[:longest], shorter, *messages[longest + 1 :]], left_out


def _text(message: Message) -> str:
    content = message.get("content")
    return content if isinstance(content, str) else ""
