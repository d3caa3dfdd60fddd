"""Replies in OpenAI's documented form: a chat completion, its chunks, embeddings, models.

Every document is a function of the request and the reply: no clock, no counter, no randomness. So
the same call is answered with the same bytes, whatever else the server does at that time.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

from .reply import Reply
from .script import Request, message_text

_CHARACTERS_PER_TOKEN = 4
_CHARACTERS_PER_CHUNK = 16
_EMBEDDING_SIZE = 256
_CREATED = 0
_MODEL = "scripted"


def chat_completion(request: Request, replies: Sequence[Reply]) -> bytes:
    """Encode one choice per reply as a chat completion; usage comes from the first reply."""
    identity = _identity(request)
    choices = [
        {
            "index": index,
            "message": {"role": "assistant", **_message(reply, f"{identity}_{index}")},
            "finish_reason": reply.finish_reason,
        }
        for index, reply in enumerate(replies)
    ]
    document = _envelope(request, identity, "chat.completion") | {"choices": choices}
    usage = _usage(request, replies)
    return json.dumps(document if usage is None else document | {"usage": usage}).encode()


def chat_chunks(request: Request, replies: Sequence[Reply]) -> bytes:
    """Encode the same completion as server-sent events."""
    scripted = replies[0].events
    lines = [*_chunks(request, replies), "[DONE]"] if scripted is None else scripted
    data = (line if isinstance(line, str) else json.dumps(line) for line in lines)
    return "".join(f"data: {line}\n\n" for line in data).encode()


def embeddings(request: Request) -> str:
    """Encode one vector of unit length per input. Texts that share words have close vectors."""
    inputs = request.get("input")
    texts = cast("list[object]", inputs) if isinstance(inputs, list) else [inputs]
    size = request.get("dimensions") or _EMBEDDING_SIZE
    vectors = [
        {"object": "embedding", "index": index, "embedding": _embedding(text, size)}
        for index, text in enumerate(texts)
    ]
    tokens = sum(_tokens(str(text)) for text in texts)
    return json.dumps(
        {
            "object": "list",
            "data": vectors,
            "model": request.get("model", _MODEL),
            "usage": {"prompt_tokens": tokens, "total_tokens": tokens},
        }
    )


def models() -> str:
    """Encode the list of models: one, although the server accepts every name."""
    model = {"id": _MODEL, "object": "model", "created": _CREATED, "owned_by": "coterie"}
    return json.dumps({"object": "list", "data": [model]})


def _chunks(request: Request, replies: Sequence[Reply]) -> Iterator[Mapping[str, Any]]:
    identity = _identity(request)
    envelope = _envelope(request, identity, "chat.completion.chunk")
    for index, reply in enumerate(replies):
        for delta, reason in _deltas(reply, f"{identity}_{index}"):
            yield envelope | {
                "choices": [{"index": index, "delta": delta, "finish_reason": reason}]
            }
    usage = _usage(request, replies)
    options: Mapping[str, Any] = request.get("stream_options") or {}
    if options.get("include_usage") and usage is not None:
        yield envelope | {"choices": [], "usage": usage}


def _envelope(request: Request, identity: str, kind: str) -> dict[str, Any]:
    model = request.get("model", _MODEL)
    return {"id": f"chatcmpl-{identity}", "object": kind, "created": _CREATED, "model": model}


def _message(reply: Reply, identity: str) -> dict[str, Any]:
    if not reply.tool_calls:
        return {"content": reply.text}
    calls = [
        {
            "id": f"call_{identity}_{index}",
            "type": "function",
            "function": {"name": call.name, "arguments": call.arguments},
        }
        for index, call in enumerate(reply.tool_calls)
    ]
    return {"content": reply.text, "tool_calls": calls}


def _deltas(reply: Reply, identity: str) -> Iterator[tuple[dict[str, Any], str | None]]:
    message = _message(reply, identity)
    yield {"role": "assistant", "content": None if reply.text is None else ""}, None
    text = reply.text or ""
    for start in range(0, len(text), _CHARACTERS_PER_CHUNK):
        yield {"content": text[start : start + _CHARACTERS_PER_CHUNK]}, None
    for index, call in enumerate(message.get("tool_calls", ())):
        yield {"tool_calls": [{"index": index, **call}]}, None
    yield {}, reply.finish_reason


def _usage(request: Request, replies: Sequence[Reply]) -> Mapping[str, object] | None:
    declared = replies[0].usage
    if isinstance(declared, Mapping):
        return declared
    if declared == "missing":
        return None
    prompt = _tokens(message_text(request))
    completion = sum(_tokens(_written(reply)) for reply in replies)
    return {
        "prompt_tokens": prompt,
        "completion_tokens": completion,
        "total_tokens": prompt + completion,
    }


def _written(reply: Reply) -> str:
    return (reply.text or "") + "".join(call.name + call.arguments for call in reply.tool_calls)


def _tokens(text: str) -> int:
    return math.ceil(len(text) / _CHARACTERS_PER_TOKEN)


def _identity(request: Request) -> str:
    # The number of messages distinguishes an agent's steps if a tool returned no text.
    return _digest(f"{len(request['messages'])} {message_text(request)}").hex()


def _embedding(text: object, size: int) -> list[float]:
    if not isinstance(text, str):
        raise ValueError(f"the input is text or a list of texts, not {text!r}")  # noqa: TRY004 (the caller answers a bad value)
    vector = [0.0] * size
    for word in text.lower().split() or [""]:
        vector[int.from_bytes(_digest(word)) % size] += 1.0
    length = math.hypot(*vector)
    return [value / length for value in vector]


def _digest(text: str) -> bytes:
    # JSON can carry half of a surrogate pair, which plain UTF-8 refuses.
    return hashlib.blake2b(text.encode(errors="surrogatepass"), digest_size=8).digest()
