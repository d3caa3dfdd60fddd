"""Calls of tools that Gemini did not make itself, as it takes them.

From its third version on it refuses a conversation with a call that is not signed, such as one of a
fallback that answered between (ai.google.dev/gemini-api/docs/thought-signatures).
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
"""What the documentation has say that a call comes from elsewhere."""


def signed(endpoint: Endpoint, messages: Sequence[Message]) -> list[Message]:
    """Return messages with a signature for each turn of calls, where Gemini reads them.

    Args:
        endpoint: Who reads them. litellm signs by itself.
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
