"""A response of Anthropic's Messages API as the chat API would have it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ....schema.values.values import is_mapping
from ..chat.text import as_text

ANSWER_TOOL = "give_answer"
"""The tool by which a model answers that cannot be held to a schema otherwise."""

THINKING = frozenset({"thinking", "redacted_thinking"})


def is_interleaved(blocks: Sequence[Mapping[str, Any]]) -> bool:
    """Return whether it thought again between its words: all must be given back in this order."""
    kinds = [block["type"] in THINKING for block in blocks]
    return kinds != sorted(kinds, reverse=True)


def as_chat(body: Mapping[str, Any], blocks: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Write a response as the chat API would have it, with its thinking as litellm does."""
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
    """Return why it refuses, in the provider's words."""
    details = body.get("stop_details")
    return details.get("explanation") if is_mapping(details) else None


def _call(block: Mapping[str, Any]) -> dict[str, Any]:
    function = {"name": block["name"], "arguments": as_text(block["input"])}
    return {"id": block["id"], "type": "function", "function": function}


def _usage(usage: Any) -> dict[str, Any]:
    """Count what was read as the chat API does: with what came from the cache, or went there."""
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
