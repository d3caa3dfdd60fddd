"""From what an endpoint sends to an answer, or to the reason why it is none."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, cast

from ...schema.problems import quoted
from ...schema.values import is_list, is_mapping
from ..usage import Usage
from .chat import ChatAnswer, ToolCall
from .errors import CallError

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["answer_of", "parsed"]

MOST_TOKENS = 100_000_000
"""Of one call. A count above it is a mistake, not a count."""


def parsed(source: str, content: bytes) -> Mapping[str, Any]:
    """Read a response as a JSON object.

    Raises:
        CallError: It is none.
    """
    try:
        body = json.loads(content)
    except (ValueError, RecursionError):
        raise _malformed(f"{source}: the answer is not JSON: {quoted(content[:200])}.") from None
    if not is_mapping(body):
        raise _malformed(f"{source}: the answer is not a JSON object.")
    return cast("Mapping[str, Any]", body)


def answer_of(body: Mapping[str, Any], source: str) -> ChatAnswer:
    """Take the answer out of a response of the chat API.

    Raises:
        CallError: The response has no choice with a message.
    """
    try:
        choice = body["choices"][0]
        message: Mapping[str, Any] = choice["message"]
        text = _text(message.get("content")) or _text(message.get("refusal"))
        calls = tuple(_tool_call(call) for call in message.get("tool_calls") or ())
        finish_reason = _sound(str(choice.get("finish_reason") or "stop"))
    except (KeyError, IndexError, TypeError, AttributeError, RecursionError):
        raise _malformed(
            f"{source}: the answer has no choices[0].message as the chat API has it;"
            f" it has {quoted(sorted(body)[:10])}."
        ) from None
    return ChatAnswer(
        text=text,
        tool_calls=calls,
        finish_reason=finish_reason,
        usage=_usage(body.get("usage"), answered=bool(text or calls)),
        model=_sound(str(body.get("model") or "")),
        fingerprint=_sound(str(body.get("system_fingerprint") or "")),
    )


def _malformed(message: str) -> CallError:
    return CallError(message, kind="malformed", may_be_billed=True)


def _text(content: Any) -> str:
    """Give a message's text, which some endpoints send in parts."""
    if is_list(content):
        return "".join(_text(part.get("text")) for part in content)
    return _sound(_as_text(content))


def _as_text(value: Any) -> str:
    return value if isinstance(value, str) else "" if value is None else json.dumps(value)


def _sound(text: str) -> str:
    """Replace halves of characters, which JSON can carry and UTF-8 cannot."""
    return (
        text
        if text.isascii()
        else text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    )


def _tool_call(call: Mapping[str, Any]) -> ToolCall:
    function: Mapping[str, Any] = call["function"]
    return ToolCall(
        id=_sound(str(call.get("id") or "")),
        name=_sound(str(function["name"])),
        arguments=_sound(_as_text(function.get("arguments"))),
    )


def _usage(usage: Any, *, answered: bool) -> Usage:
    """Read what the endpoint says; counts that cannot be do not count as told."""
    told = cast("Mapping[str, Any]", usage if is_mapping(usage) else {})
    prompt = _count(told.get("prompt_tokens"), at_least=1)
    completion = _count(told.get("completion_tokens"), at_least=int(answered))
    details = told.get("prompt_tokens_details")
    cached = 0
    if is_mapping(details):
        cached = _count(cast("Mapping[str, Any]", details).get("cached_tokens") or 0)
    metered = not (prompt is None or completion is None or cached is None or cached > prompt)
    return Usage(
        calls=1,
        prompt_tokens=prompt or 0,
        cached_tokens=cached or 0 if metered else 0,
        completion_tokens=completion or 0,
        unmetered_calls=int(not metered),
    )


def _count(value: Any, *, at_least: int = 0) -> int | None:
    fits = isinstance(value, int) and not isinstance(value, bool)
    return value if fits and at_least <= value <= MOST_TOKENS else None
