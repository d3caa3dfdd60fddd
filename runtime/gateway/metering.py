"""What a call consumed, whatever the endpoint says."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ...schema.values import is_list, is_mapping
from .errors import CallError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from ..budget import Reservation
    from ..usage import Usage
    from .chat import ChatAnswer, Message
    from .prices import Rates

__all__ = ["characters_in", "lost", "metered", "tokens_in"]

BYTES_PER_TOKEN = 2
"""Half of what is usual: an estimate must not be too low."""


def tokens_in(size: int) -> int:
    """Estimate the tokens of a text of so many bytes, rather too many than too few."""
    return -(-size // BYTES_PER_TOKEN)


def characters_in(messages: Iterable[Message]) -> int:
    """Count the characters that are said in messages, calls of tools with them."""
    return sum(_characters(message) for message in messages)


def _characters(message: Message) -> int:
    content: Any = message.get("content")
    if isinstance(content, str) and "tool_calls" not in message:
        return len(content)
    parts: list[Any] = content if is_list(content) else [content]
    said = [part.get("text") if is_mapping(part) else part for part in parts]
    calls: list[Any] = message.get("tool_calls") or []
    said += [call["function"].get("arguments") for call in calls]
    return sum(len(text) for text in said if isinstance(text, str))


def metered(answer: ChatAnswer, prompt: int, rates: Rates | None) -> Usage:
    """Give an answer's usage and price; what the endpoint did not tell is estimated.

    What the provider says that the call cost counts before what we know of its prices.

    Args:
        answer: What the endpoint said.
        prompt: Our estimate of the tokens that it read.
        rates: What the model costs.
    """
    usage, told = answer.usage, not answer.usage.unmetered_calls
    if not told:
        usage = _estimated(answer, prompt)
    if answer.reported_usd is not None:
        return replace(usage, usd=answer.reported_usd)
    if rates is None:
        return replace(usage, unpriced_calls=1)
    if not told:
        return replace(usage, usd=rates.highest(usage.prompt_tokens, usage.completion_tokens))
    return replace(usage, usd=rates.usd(usage))


def _estimated(answer: ChatAnswer, prompt: int) -> Usage:
    told = answer.usage
    called = "".join(call.name + call.arguments for call in answer.tool_calls)
    written = answer.thinking + answer.text + called
    return replace(
        told,
        prompt_tokens=max(told.prompt_tokens, prompt),
        completion_tokens=max(told.completion_tokens, tokens_in(len(written.encode()))),
    )


def lost(
    reservation: Reservation, received: Callable[[], ChatAnswer] | None, rates: Rates | None
) -> Usage | None:
    """Give the most that a call can have cost whose answer began to come and broke off.

    What the endpoint told of the prompt is exact. How much the model wrote, or thought in silence,
    before it was stopped, nobody knows: that is all that was reserved for it, or what came where
    that is more.

    Args:
        reservation: What was reserved for the call.
        received: Gives what came of the answer.
        rates: What the model costs.

    Returns:
        None where nothing came that says more than the reservation.
    """
    if received is None:
        return None
    try:
        usage = metered(received(), reservation.prompt_tokens, rates)
    except CallError:
        return None
    completion = max(usage.completion_tokens, reservation.tokens - reservation.prompt_tokens)
    usd = rates.highest(usage.prompt_tokens, completion) if rates else 0.0
    return replace(
        usage,
        completion_tokens=completion,
        usd=usd,
        unmetered_calls=0,
        uncertain_calls=1,
        uncertain_usd=usd,
    )
