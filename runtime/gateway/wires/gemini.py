"""Signatures for tool calls that Gemini did not make itself.

From version 3 on, Gemini refuses a conversation with an unsigned call, such as one by a fallback
that answered in between (ai.google.dev/gemini-api/docs/thought-signatures).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ..chat.messages import Message
    from ..endpoint import Endpoint

SIGNING = re.compile(r"(?:.*/)?gemini-(?:[3-9]|\d\d)")
BY_ANOTHER: Mapping[str, Any] = {
    "extra_content": {"google": {"thought_signature": "skip_thought_signature_validator"}}
}
"""The documented signature for a call by another model."""


def signed(endpoint: Endpoint, messages: Sequence[Message]) -> list[Message]:
    """Return messages with a signature for each turn of calls, if Gemini reads them.

    Args:
        endpoint: The endpoint that reads them. litellm signs calls itself.
        messages: The conversation, with the signatures that were kept.
    """
    is_gemini = endpoint.kind == "openai" and SIGNING.match(endpoint.model)
    return [_signed(message) for message in messages] if is_gemini else list(messages)


def _signed(message: Message) -> Message:
    calls: Sequence[Mapping[str, Any]] = message.get("tool_calls") or ()
    if not calls or any("extra_content" in call for call in calls):
        return message
    # Of parallel calls only the first one is signed.
    return {**message, "tool_calls": [{**calls[0], **BY_ANOTHER}, *calls[1:]]}
