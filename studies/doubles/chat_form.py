"""OpenAI's chat completions: parameters, answers and errors, which most providers take over.

Source: https://platform.openai.com/docs/api-reference/chat and /chat-streaming.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from .said import digest, mark, names

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from .provider import Speech
    from .said import Bill, Body, Refusal, Said

CHAT_PARAMETERS = names(
    """
    audio frequency_penalty logit_bias logprobs max_completion_tokens max_tokens messages
    metadata modalities model n parallel_tool_calls prediction presence_penalty
    prompt_cache_key reasoning_effort response_format safety_identifier seed service_tier stop
    store stream stream_options temperature tool_choice tools top_logprobs top_p user
    verbosity web_search_options
    """
)
"""Of chat completions: https://platform.openai.com/docs/api-reference/chat/create."""

_PIECE = 12
"""Characters in one event of a stream."""


class ChatForm:
    """Chat completions, whole or as chunks."""

    def document(self, speech: Speech, body: Body, answer: Said, bill: Bill) -> dict[str, Any]:
        """Write a completion with one choice."""
        message: dict[str, Any] = {"role": "assistant", "content": answer.text or None}
        if answer.refusal and speech.refuses == "field":
            message["refusal"] = answer.refusal
        if answer.calls:
            message["tool_calls"] = _calls(body, answer)
        return {
            "id": f"chatcmpl-{_turn(body)}",
            "object": "chat.completion",
            "created": 0,
            "model": body.get("model", ""),
            "choices": [
                {
                    "index": 0,
                    "message": speech.message(message, answer),
                    "finish_reason": _finish_reason(speech, answer),
                }
            ],
            "usage": dict(speech.usage(bill)),
        }

    def events(self, speech: Speech, body: Body, document: Mapping[str, Any]) -> list[str]:
        """Write the chunks of a completion."""
        choice = document["choices"][0]
        head = {key: document[key] for key in ("id", "created", "model")}
        head["object"] = "chat.completion.chunk"
        chunks = [
            head | {"choices": [{"index": 0, "delta": delta, "finish_reason": None}]}
            for delta in _deltas(choice["message"], whole_calls=speech.whole_calls)
        ]
        ending = {"index": 0, "delta": {}, "finish_reason": choice["finish_reason"]}
        chunks.append(head | {"choices": [ending]})
        asked = (body.get("stream_options") or {}).get("include_usage")
        if asked:
            chunks.append(head | {"choices": [], "usage": document["usage"]})
        elif speech.usage_unasked:
            chunks[-1]["usage"] = document["usage"]
        return [f"data: {line}" for line in (*map(json.dumps, chunks), "[DONE]")]


def openai_error(refusal: Refusal) -> dict[str, Any]:
    """Write it as OpenAI: https://platform.openai.com/docs/guides/error-codes."""
    error = {
        "message": refusal.message,
        "type": refusal.kind,
        "param": refusal.param,
        "code": refusal.code,
    }
    return {"error": error}


def openai_bill(bill: Bill) -> dict[str, Any]:
    """Write it as OpenAI's chat completions: thinking is a part of what was written.

    https://platform.openai.com/docs/guides/reasoning and /guides/prompt-caching.
    """
    return {
        "prompt_tokens": bill.prompt,
        "completion_tokens": bill.completion,
        "total_tokens": bill.total,
        "prompt_tokens_details": {"cached_tokens": bill.cached, "audio_tokens": 0},
        "completion_tokens_details": {"reasoning_tokens": bill.thinking, "audio_tokens": 0},
    }


def plain_bill(bill: Bill) -> dict[str, Any]:
    """Write three numbers: nothing is told of a cache."""
    return {
        "prompt_tokens": bill.prompt,
        "completion_tokens": bill.completion,
        "total_tokens": bill.total,
    }


def with_reasoning(message: dict[str, Any], answer: Said) -> dict[str, Any]:
    """Add what was thought as Groq, Ollama and vLLM do."""
    return message | {"reasoning": answer.thinking} if answer.thinking else message


def with_reasoning_content(message: dict[str, Any], answer: Said) -> dict[str, Any]:
    """Add what was thought as DeepSeek, and many after it, do."""
    return message | {"reasoning_content": answer.thinking} if answer.thinking else message


def _finish_reason(speech: Speech, answer: Said) -> str:
    if answer.refusal and speech.refuses == "filter":
        return "content_filter"
    return "tool_calls" if answer.calls else "stop"


def _turn(body: Body) -> str:
    """Return what tells this request from the others of a conversation."""
    return digest(json.dumps(body.get("messages")))


def _calls(body: Body, answer: Said) -> list[dict[str, Any]]:
    # Nine letters and digits: the only form of an id that all providers take.
    return [
        {
            "id": mark(answer.thinking) + digest(f"{_turn(body)} {index}")[:5],
            "type": "function",
            "function": {"name": call.name, "arguments": call.arguments},
        }
        for index, call in enumerate(answer.calls)
    ]


def _deltas(message: Mapping[str, Any], *, whole_calls: bool) -> Iterator[dict[str, Any]]:
    """Cut a message into what the chunks of a stream add to it."""
    yield {"role": "assistant", "content": ""}
    # What was thought comes before the answer.
    last = ("content", "refusal", "tool_calls")
    for key in (*(key for key in message if key not in ("role", *last)), *last):
        value = message.get(key)
        if key == "tool_calls":
            for index, call in enumerate(value or ()):
                yield from _call_deltas(index, call, whole=whole_calls)
        elif isinstance(value, str):
            yield from ({key: piece} for piece in _pieces(value))
        else:
            yield from _part_deltas(key, value or ())


def _part_deltas(key: str, parts: Sequence[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """Cut parts: text of type `text` comes as plain text, anything else as a list of one part."""
    for part in parts:
        if part.get("type") == "text":
            yield from ({key: piece} for piece in _pieces(part["text"]))
        else:
            yield {key: [part]}


def _call_deltas(index: int, call: Mapping[str, Any], *, whole: bool) -> Iterator[dict[str, Any]]:
    if whole:
        yield {"tool_calls": [{"index": index, **call}]}
        return
    function = call["function"]
    begun = {**call, "function": {"name": function["name"], "arguments": ""}}
    yield {"tool_calls": [{"index": index, **begun}]}
    for piece in _pieces(function["arguments"]):
        yield {"tool_calls": [{"index": index, "function": {"arguments": piece}}]}


def _pieces(text: str) -> Iterator[str]:
    for start in range(0, len(text), _PIECE):
        yield text[start : start + _PIECE]
