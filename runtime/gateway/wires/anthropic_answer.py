"""Convert a response of Anthropic's Messages API into the chat API's form."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ....schema.values.values import is_mapping
from ..chat.messages import as_text

ANSWER_TOOL = "give_answer"
"""The tool through which a model answers if nothing else can enforce the schema."""

THINKING = frozenset({"thinking", "redacted_thinking"})


def is_interleaved(blocks: Sequence[Mapping[str, Any]]) -> bool:
    """Return whether thinking follows text: all blocks must then be given back in order."""
    kinds = [block["type"] in THINKING for block in blocks]
    return kinds != sorted(kinds, reverse=True)


def as_chat(body: Mapping[str, Any], blocks: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return a response in the chat API's form, with thinking in litellm's fields."""
    calls = [block for block in blocks if block["type"] == "tool_use"]
    answers = [call for call in calls if call["name"] == ANSWER_TOOL]
    texts = [block["text"] for block in blocks if block["type"] == "text"]
    if answers:
        texts = [as_text(answers[0]["input"])]
    reason = body.get("stop_reason")
    if answers and reason == "tool_use":
        reason = "stop"
    message = {
        "content": "".join(texts) or _explanation(body),
        "tool_calls": [_call(call) for call in calls if not answers],
        "thinking_blocks": [dict(block) for block in blocks if block["type"] in THINKING],
    }
    return {
        "choices": [{"message": message, "finish_reason": reason}],
        "model": body.get("model"),
        "usage": _usage(body.get("usage")),
    }


def _explanation(body: Mapping[str, Any]) -> str | None:
    details = body.get("stop_details")
    return details.get("explanation") if is_mapping(details) else None


def _call(block: Mapping[str, Any]) -> dict[str, Any]:
    function = {"name": block["name"], "arguments": as_text(block["input"])}
    return {"id": block["id"], "type": "function", "function": function}


def _usage(usage: Any) -> dict[str, Any]:
    """Count prompt tokens like the chat API: with those read from or stored in the cache."""
    if not is_mapping(usage):
        return {}
    read: Any = usage.get("cache_read_input_tokens") or 0
    written: Any = usage.get("cache_creation_input_tokens") or 0
    counts: list[Any] = [usage.get("input_tokens"), read, written]
    is_counted = all(isinstance(count, int) and count >= 0 for count in counts)
    details: Any = usage.get("output_tokens_details")
    thought = details.get("thinking_tokens") if is_mapping(details) else None
    return {
        **usage,
        "prompt_tokens": sum(counts) if is_counted else None,
        "completion_tokens": usage.get("output_tokens"),
        "completion_tokens_details": {"reasoning_tokens": thought},
        "prompt_tokens_details": {"cached_tokens": read, "cache_creation_tokens": written},
    }
