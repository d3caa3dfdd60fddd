"""Answers as OpenAI's responses have them.

Source: https://platform.openai.com/docs/api-reference/responses and /responses-streaming.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from .said import Refusal, digest

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from .provider import Speech
    from .said import Bill, Body, Said

_PIECE = 12


class ResponsesForm:
    """A response of output items, whole or as events."""

    def document(self, speech: Speech, body: Body, answer: Said, bill: Bill) -> dict[str, Any]:
        """Write a response."""
        return {
            "id": f"resp_{_turn(body)}",
            "object": "response",
            "created_at": 0,
            "status": "completed",
            "error": None,
            "incomplete_details": None,
            "model": body.get("model", ""),
            "output": [*_items(body, answer)],
            "usage": dict(speech.usage(bill)),
        }

    def events(self, speech: Speech, body: Body, document: Mapping[str, Any]) -> list[str]:
        """Write the events of a response; the last one has all of it."""
        del speech, body
        begun = {**document, "status": "in_progress", "output": [], "usage": None}
        events: list[dict[str, Any]] = [
            {"type": "response.created", "response": begun},
            {"type": "response.in_progress", "response": begun},
        ]
        for index, item in enumerate(document["output"]):
            place = {"output_index": index, "item_id": item["id"]}
            empty = {**item, **{key: [] for key in ("content", "summary") if key in item}}
            events.append({"type": "response.output_item.added", "item": empty, **place})
            events += [{**event, **place} for event in _deltas(item)]
            events.append({"type": "response.output_item.done", "item": item, **place})
        events.append({"type": "response.completed", "response": document})
        return [
            f"event: {event['type']}\ndata: {json.dumps({**event, 'sequence_number': number})}"
            for number, event in enumerate(events)
        ]


def encrypted(thinking: str) -> str:
    """Return what stands for thinking that only the provider can read."""
    return f"gAAAA{digest(thinking)}"


def items_follow(body: Body) -> Refusal | None:
    """Refuse a call without its output, an output without its call, and thinking that is lost."""
    given = body.get("input")
    items: list[dict[str, Any]] = given if isinstance(given, list) else []
    calls = [item["call_id"] for item in items if item.get("type") == "function_call"]
    outputs = [item["call_id"] for item in items if item.get("type") == "function_call_output"]
    for call in calls:
        if call not in outputs:
            return _refused(f"No tool output found for function call {call}.")
    for output in outputs:
        if output not in calls:
            return _refused(f"No tool call found for function call output with call_id {output}.")
    return _lost_thinking(items)


def _lost_thinking(items: list[dict[str, Any]]) -> Refusal | None:
    for item in items:
        if item.get("type") == "reasoning" and not item.get("encrypted_content"):
            return _refused(
                f"Item with id '{item.get('id')}' not found. Items are not persisted when `store`"
                " is set to false. Try again with `store` set to true, or remove this item from"
                " your input.",
                status=404,
            )
    if items and items[-1].get("type") == "reasoning":
        return _refused(
            f"Item '{items[-1].get('id')}' of type 'reasoning' was provided without its required"
            " following item."
        )
    return None


def _refused(message: str, status: int = 400) -> Refusal:
    return Refusal(status=status, message=message, param="input")


def _turn(body: Body) -> str:
    return digest(json.dumps(body.get("input")))


def _items(body: Body, answer: Said) -> Iterator[dict[str, Any]]:
    turn = _turn(body)
    if answer.thinking:
        shown = (body.get("reasoning") or {}).get("summary")
        summary = [{"type": "summary_text", "text": answer.thinking}] if shown else []
        item = {"type": "reasoning", "id": f"rs_{turn}", "summary": summary}
        if "reasoning.encrypted_content" in (body.get("include") or ()):
            item["encrypted_content"] = encrypted(answer.thinking)
        yield item
    if answer.text or answer.refusal:
        part = (
            {"type": "refusal", "refusal": answer.refusal}
            if answer.refusal
            else {"type": "output_text", "text": answer.text, "annotations": []}
        )
        yield {
            "type": "message",
            "id": f"msg_{turn}",
            "role": "assistant",
            "status": "completed",
            "content": [part],
        }
    for index, call in enumerate(answer.calls):
        yield {
            "type": "function_call",
            "id": f"fc_{turn}_{index}",
            "call_id": f"call_{turn}_{index}",
            "status": "completed",
            "name": call.name,
            "arguments": call.arguments,
        }


def _deltas(item: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Write what the events of a stream add to an item."""
    match item:
        case {"type": "message", "content": [{"type": "output_text", "text": text}]}:
            for piece in _pieces(text):
                yield {"type": "response.output_text.delta", "content_index": 0, "delta": piece}
            yield {"type": "response.output_text.done", "content_index": 0, "text": text}
        case {"type": "message", "content": [{"refusal": text}]}:
            for piece in _pieces(text):
                yield {"type": "response.refusal.delta", "content_index": 0, "delta": piece}
        case {"type": "function_call", "arguments": arguments}:
            for piece in _pieces(arguments):
                yield {"type": "response.function_call_arguments.delta", "delta": piece}
            yield {"type": "response.function_call_arguments.done", "arguments": arguments}
        case {"type": "reasoning", "summary": [{"text": text}]}:
            for piece in _pieces(text):
                kind = "response.reasoning_summary_text.delta"
                yield {"type": kind, "summary_index": 0, "delta": piece}
        case _:
            return


def _pieces(text: str) -> list[str]:
    return [text[start : start + _PIECE] for start in range(0, len(text), _PIECE)]
