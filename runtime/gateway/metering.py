"""The usage of a call, even if the endpoint reports none or too little."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ...schema.values.values import is_list, is_mapping, replaced
from ..values.usage import Usage
from .chat.errors import CallError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..values.budget import Reservation
    from .chat.messages import ChatAnswer, Message
    from .prices import TokenPrices
    from .stream_sink import StreamSink

BYTES_PER_TOKEN = 2
"""Half of the usual number: an estimate of tokens must not be too low."""
MOST_BYTES_PER_TOKEN = 4
"""The most bytes of text for one token. If an endpoint reports fewer tokens, caps count more."""


def tokens_in(size: int) -> int:
    """Estimate the tokens in `size` bytes of text; the estimate must not be too low."""
    return -(-size // BYTES_PER_TOKEN)


def characters_in(messages: Iterable[Message]) -> int:
    """Return the number of characters in messages, including tool calls."""
    return sum(len(text) for message in messages for text in _texts_of(message))


def bytes_in(messages: Iterable[Message]) -> int:
    """Return the number of UTF-8 bytes in messages, including tool calls."""
    return sum(_size(text) for message in messages for text in _texts_of(message))


def _size(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def _texts_of(message: Message) -> Iterable[str]:
    content: Any = message.get("content")
    if isinstance(content, str) and "tool_calls" not in message:
        return (content,)
    parts: list[Any] = content if is_list(content) else [content]
    texts = [part.get("text") if is_mapping(part) else part for part in parts]
    calls: list[Any] = message.get("tool_calls") or []
    texts += [call["function"].get("arguments") for call in calls]
    return [text for text in texts if isinstance(text, str)]


def metered(
    answer: ChatAnswer,
    prompt: int,
    rates: TokenPrices | None,
    *,
    read: int = 0,
    declared: bool = False,
) -> Usage:
    """Return an answer's usage and price; estimate what the endpoint does not report.

    The endpoint's own report is not trusted alone. Prices that the host declared are a lower bound,
    whatever cost the endpoint reports. Against prices of a public list, the reported cost takes
    precedence. Caps count at least the tokens that the texts must have, and their list price.

    Args:
        prompt: Our estimate of the prompt's tokens, not too low.
        read: Bytes of the prompt.
        declared: Whether the host declared the prices.
    """
    usage, is_metered = answer.usage, not answer.usage.unmetered_calls
    written = written_by(answer)
    if not is_metered:
        completion = tokens_in(_size(written))
        usage = replace(
            usage,
            prompt_tokens=max(usage.prompt_tokens, prompt),
            completion_tokens=max(usage.completion_tokens, completion),
        )
    if rates is None:
        if answer.reported_usd is None:
            return _doubted(usage, read, written, None, unpriced_calls=usage.unpriced_calls + 1)
        return _doubted(replace(usage, usd=answer.reported_usd), read, written, None)
    usd = rates.usd(usage)
    if not is_metered:
        usd = rates.highest(usage.prompt_tokens, usage.completion_tokens)
    if answer.reported_usd is not None:
        usd = max(usd, answer.reported_usd) if declared else answer.reported_usd
    return _doubted(replaced(usage, usd=usd), read, written, rates)


def written_by(answer: ChatAnswer) -> str:
    """Return all text that a model produced: thinking, answer and tool calls."""
    called = "".join(call.name + call.arguments for call in answer.tool_calls)
    return answer.thinking + answer.text + called


def _doubted(
    usage: Usage,
    read: int,
    written: str,
    rates: TokenPrices | None,
    *,
    completion: int = 0,
    **changes: float,
) -> Usage:
    """Add what only caps count: unreported tokens that the texts must have, and their price."""
    prompt = max(usage.prompt_tokens, read // MOST_BYTES_PER_TOKEN)
    completion = max(usage.completion_tokens, _size(written) // MOST_BYTES_PER_TOKEN, completion)
    least = replace(usage, prompt_tokens=prompt, completion_tokens=completion) if rates else usage
    usd = rates.usd(least) if rates else 0.0
    tokens = prompt + completion - usage.tokens
    if not tokens and usd <= usage.usd:
        return replaced(usage, **changes) if changes else usage
    return replaced(
        usage,
        **changes,
        doubted_tokens=usage.doubted_tokens + tokens,
        doubted_usd=usage.doubted_usd + max(0.0, usd - usage.usd),
    )


def upper_bound(
    reservation: Reservation,
    sink: StreamSink,
    rates: TokenPrices | None,
    *,
    read: int,
    has_ended: bool = False,
) -> Usage:
    """Return the highest possible usage of a call whose answer is missing or incomplete.

    Reported prompt tokens count as exact. Nobody knows how much the model wrote or thought before
    it stopped, so the reserved tokens count, or the received ones if there are more. If the
    endpoint or its connection ended a stream early, only the received tokens count as written. The
    rest is doubted: the endpoint hardly wrote more, but caps must hold if it did.

    Args:
        read: Bytes of the prompt.
        has_ended: Whether the endpoint itself reported the failure: it wrote no more than arrived.
    """
    most = reservation.most
    usage = _received(reservation, sink, rates)
    if usage is None:
        return most
    reserved = 0 if has_ended else most.completion_tokens
    completion = max(usage.completion_tokens, 0 if sink.is_cut else reserved)
    usd = rates.highest(usage.prompt_tokens, completion) if rates else 0.0
    usage = replace(
        usage,
        completion_tokens=completion,
        usd=usd,
        unmetered_calls=0,
        uncertain_calls=1,
        uncertain_usd=usd,
        doubted_tokens=0,
        doubted_usd=0.0,
    )
    return _doubted(usage, read, "", rates, completion=reserved)


def _received(
    reservation: Reservation, sink: StreamSink, rates: TokenPrices | None
) -> Usage | None:
    """Return the usage of an incomplete answer; None if unknown."""
    if sink.received is None:
        return replace(reservation.most, completion_tokens=0) if sink.is_cut else None
    try:
        return metered(sink.received(), reservation.prompt_tokens, rates)
    except CallError:
        return None


def unreached(reservation: Reservation) -> Usage:
    """Return the usage of a call that hardly reached its model: all of it is doubted."""
    most = reservation.most
    return Usage(
        calls=most.calls,
        unpriced_calls=most.unpriced_calls,
        uncertain_calls=most.calls,
        doubted_tokens=most.tokens,
        doubted_usd=most.usd,
    )
