"""Responses of an endpoint, byte by byte, read by the real gateway without a socket."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from coterie.runtime.gateway import CallError, ChatAnswer, Gateway
from coterie.runtime.gateway.http.http_client import HttpClient

from .provider import model, request
from .virtual_time import run_virtually, virtual_clock

DONE = "[DONE]"
CHAT_USAGE = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
USAGE = {"input_tokens": 10, "output_tokens": 5}


class Response(NamedTuple):
    """What an endpoint sends."""

    content: bytes
    status: int = 200
    headers: Mapping[str, str] = {}


def document(body: Any, status: int = 200, **headers: str) -> Response:
    return Response(json.dumps(body).encode(), status, headers)


def stream(*events: Any, **headers: str) -> Response:
    """A stream of events; a text is sent as it is, after `data: ` where it names no field."""
    lines = [event if isinstance(event, str) else json.dumps(event) for event in events]
    named = (line if line.startswith(("event:", ":")) else f"data: {line}" for line in lines)
    return Response("".join(f"{name}\n\n" for name in named).encode(), 200, headers)


class Read(NamedTuple):
    """What came of a call: an answer or an error, the requests made, the seconds, the tokens."""

    answer: ChatAnswer | CallError
    requests: int
    seconds: float
    tokens: int


def read(*responses: Response, wire: str = "chat", others: Sequence[Response] = ()) -> Read:
    """Call a model that sends these in turn, the last one again and again.

    Args:
        responses: What it sends.
        wire: The API that it speaks.
        others: What its fallback sends, where it has one.
    """
    api = None if wire == "chat" else wire
    fallback = ("spare",) if others else ()
    models = [model(api=api, fallback=fallback), model("spare", api=api)]
    client = _Canned({"default": responses, "spare": others})

    async def scene() -> Read:
        known = {item.alias: item for item in models}
        async with Gateway(known, environment={}, seed=1, clock=virtual_clock) as gateway:
            gateway._clients["openai"] = client
            result: ChatAnswer | CallError
            try:
                result = await gateway.chat(request())
            except CallError as error:
                result = error
            return Read(result, client.requests, virtual_clock(), result.usage.tokens)

    return run_virtually(scene())


def whole(wire: str, text: str, word: Any, calls: Sequence[tuple[str, str]] = ()) -> dict[str, Any]:
    """An answer in one piece: its text, its finish word, and the calls of tools."""
    if wire == "anthropic":
        blocks: list[Any] = [{"type": "text", "text": text}] if text else []
        blocks += [
            {"type": "tool_use", "id": f"c{at}", "name": name, "input": json.loads(arguments)}
            for at, (name, arguments) in enumerate(calls)
        ]
        return {"type": "message", "content": blocks, "stop_reason": word, "usage": USAGE}
    if wire == "responses":
        items: list[Any] = [{"type": "message", "content": [{"type": "output_text", "text": text}]}]
        items += [
            {"type": "function_call", "call_id": f"c{at}", "name": name, "arguments": arguments}
            for at, (name, arguments) in enumerate(calls)
        ]
        return {"output": items, "usage": USAGE, **_status(word)}
    written = [
        {"id": f"c{at}", "function": {"name": name, "arguments": arguments}}
        for at, (name, arguments) in enumerate(calls)
    ]
    message = {"content": text, "tool_calls": written}
    choice = {"index": 0, "message": message, "finish_reason": word}
    return {"choices": [choice], "usage": CHAT_USAGE}


def pieces(wire: str, text: str, word: Any, size: int = 4) -> list[Any]:
    """The events of the same, without a last word."""
    parts = [text[at : at + size] for at in range(0, len(text), size)]
    if wire == "anthropic":
        block = {"type": "text", "text": ""}
        deltas = ({"type": "text_delta", "text": part} for part in parts)
        return [
            {"type": "message_start", "message": {"content": [], "usage": USAGE}},
            {"type": "content_block_start", "index": 0, "content_block": block},
            *({"type": "content_block_delta", "index": 0, "delta": delta} for delta in deltas),
            {"type": "message_delta", "delta": {"stop_reason": word}, "usage": USAGE},
        ]
    if wire == "responses":
        delta = {"type": "response.output_text.delta", "output_index": 0}
        last = whole(wire, text, word)
        kind = last.get("status", "completed")
        return [
            {"type": "response.created", "response": {"status": "in_progress", "output": []}},
            *({**delta, "delta": part} for part in parts),
            {"type": f"response.{kind}", "response": last},
        ]
    return [
        *({"choices": [{"index": 0, "delta": {"content": part}}]} for part in parts),
        {"choices": [{"index": 0, "delta": {}, "finish_reason": word}]},
        {"choices": [], "usage": CHAT_USAGE},
    ]


def _status(word: Any) -> dict[str, Any]:
    if word in {None, "", "completed", "stop"}:
        return {"status": "completed"}
    return {"status": "incomplete", "incomplete_details": {"reason": word}}


@dataclass
class _Canned(HttpClient):
    """An HTTP client whose connections give what is canned, by the model that is asked."""

    responses: Mapping[str, Sequence[Response]]
    requests: int = 0
    _asked: dict[str, int] = field(default_factory=dict[str, int])

    def __post_init__(self) -> None:
        super().__init__()

    def _session(self, *, is_kept: bool) -> Any:
        del is_kept
        return self

    @asynccontextmanager
    async def post(self, url: str, *, data: Any, **_: Any) -> AsyncGenerator[_Sent]:
        name = json.loads(data if isinstance(data, bytes) else data.read())["model"]
        self.requests += 1
        number = self._asked[name] = self._asked.get(name, 0) + 1
        canned = self.responses[name]
        yield _Sent(url, canned[min(number, len(canned)) - 1])


class _Sent:
    """A response as aiohttp gives it."""

    def __init__(self, url: str, response: Response) -> None:
        self.url, self.status, self.headers = url, response.status, response.headers
        self.content = self
        self._left = response.content

    async def read(self, size: int) -> bytes:
        given, self._left = self._left[:size], self._left[size:]
        return given

    def at_eof(self) -> bool:
        return True

    async def iter_any(self) -> AsyncGenerator[bytes]:
        yield self._left

    def close(self) -> None:
        return


def seeds(nightly: bool) -> Iterator[int]:
    """The numbers of the siblings that a kind is tried with: 200, and thousands each night."""
    return iter(range(5_000 if nightly else 200))
