"""Answers as Anthropic's messages have them.

Source: https://platform.claude.com/docs/en/api/messages and /build-with-claude/streaming.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from .said import digest

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from .provider import Speech
    from .said import Bill, Body, Said

_PIECE = 12


class MessagesForm:
    """Messages of content blocks, whole or as events."""

    def document(self, speech: Speech, body: Body, answer: Said, bill: Bill) -> dict[str, Any]:
        """Write a message."""
        return {
            "id": f"msg_{digest(json.dumps(body['messages']))}",
            "type": "message",
            "role": "assistant",
            "model": body.get("model", ""),
            "content": [*_blocks(body, answer)],
            "stop_reason": _stop_reason(body, answer),
            "stop_sequence": None,
            "usage": dict(speech.usage(bill)),
        }

    def events(self, speech: Speech, body: Body, document: Mapping[str, Any]) -> list[str]:
        """Write the events of a message; what it read is told first, what it wrote last."""
        del speech, body
        usage = document["usage"]
        begun = {
            **document,
            "content": [],
            "stop_reason": None,
            "usage": {**usage, "output_tokens": 1},
        }
        events: list[dict[str, Any]] = [
            {"type": "message_start", "message": begun},
            {"type": "ping"},
        ]
        for index, block in enumerate(document["content"]):
            events += _block_events(index, block)
        ending = {"stop_reason": document["stop_reason"], "stop_sequence": None}
        written = {"output_tokens": usage["output_tokens"]}
        events.append({"type": "message_delta", "delta": ending, "usage": written})
        events.append({"type": "message_stop"})
        return [f"event: {event['type']}\ndata: {json.dumps(event)}" for event in events]


def signed(thinking: str) -> str:
    """Return the signature that only this thinking has."""
    return f"sig_{digest(thinking)}"


def _blocks(body: Body, answer: Said) -> Iterator[dict[str, Any]]:
    if answer.thinking:
        yield {
            "type": "thinking",
            "thinking": answer.thinking,
            "signature": signed(answer.thinking),
        }
    forced = _forced_tool(body)
    if forced is not None and answer.text:
        yield {
            "type": "tool_use",
            "id": "toolu_forced",
            "name": forced,
            "input": json.loads(answer.text),
        }
    elif answer.text or answer.refusal:
        yield {"type": "text", "text": answer.text or answer.refusal}
    turn = digest(json.dumps(body["messages"]))
    for index, call in enumerate(answer.calls):
        given = json.loads(call.arguments)
        yield {"type": "tool_use", "id": f"toolu_{turn}_{index}", "name": call.name, "input": given}


def _forced_tool(body: Body) -> str | None:
    """Return the tool that the answer must go through, by which some clients ask for a form."""
    choice = body.get("tool_choice") or {}
    return choice.get("name") if choice.get("type") == "tool" else None


def _stop_reason(body: Body, answer: Said) -> str:
    if answer.refusal:
        return "refusal"
    return "tool_use" if answer.calls or _forced_tool(body) else "end_turn"


def _block_events(index: int, block: Mapping[str, Any]) -> list[dict[str, Any]]:
    begun, deltas = _cut(block)
    return [
        {"type": "content_block_start", "index": index, "content_block": begun},
        *({"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas),
        {"type": "content_block_stop", "index": index},
    ]


def _cut(block: Mapping[str, Any]) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Cut a block into its beginning and what the events add to it."""
    match block:
        case {"type": "thinking", "thinking": thinking, "signature": signature}:
            deltas = [{"type": "thinking_delta", "thinking": piece} for piece in _pieces(thinking)]
            ending = {"type": "signature_delta", "signature": signature}
            return {"type": "thinking", "thinking": "", "signature": ""}, [*deltas, ending]
        case {"type": "tool_use", "input": given}:
            pieces = _pieces(json.dumps(given))
            return {**block, "input": {}}, [
                {"type": "input_json_delta", "partial_json": piece} for piece in pieces
            ]
        case _:
            pieces = _pieces(block["text"])
            return {"type": "text", "text": ""}, [
                {"type": "text_delta", "text": piece} for piece in pieces
            ]


def _pieces(text: str) -> list[str]:
    return [text[start : start + _PIECE] for start in range(0, len(text), _PIECE)]
