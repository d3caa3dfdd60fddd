"""Answers of providers that mean harm, a server that gives them, and a watch over a loop."""

import asyncio
import itertools
import json
import sys
import threading
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from coterie.runtime.values.bounds import LARGEST_ANSWER, LARGEST_STREAM

MOST_CALLS = 1_000_000
"""Calls, and returns from them, within a step of an event loop. Measured: 474,000, by night."""
Body = Callable[[int], bytes]
"""Makes the body of an answer of about so many bytes."""


def message(**fields: Any) -> bytes:
    """Write a chat completion with a message."""
    record = {"role": "assistant", "content": None, **fields}
    choice = {"index": 0, "message": record, "finish_reason": "stop"}
    usage = {"prompt_tokens": 10, "completion_tokens": 10}
    return json.dumps({"model": "m", "choices": [choice], "usage": usage}).encode()


def much(unit: str, size: int) -> bytes:
    """Write a completion whose text repeats a unit."""
    return message(content=unit * (size // (len(json.dumps(unit)) - 2)))


def calls(count: int, **function: Any) -> bytes:
    """Write a completion with many tool calls."""
    fields = {"type": "function", "function": {"name": "look", "arguments": "{}", **function}}
    return message(tool_calls=[{"id": f"c{number}", **fields} for number in range(count)])


def deltas(pieces: Sequence[Mapping[str, Any]]) -> bytes:
    """Write a stream of deltas."""
    lines = [json.dumps({"choices": [{"index": 0, "delta": piece}]}) for piece in pieces]
    end = json.dumps({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
    return "".join(f"data: {line}\n\n" for line in [*lines, end, "[DONE]"]).encode()


UNITS = (
    "a", " ", "\n", "\\", "\\\\u00", "%5C", "%25", "\u00e9", "\U0001f511", "\ud800", "rd", "9",
    "<think>", "</think>", "a </think>", "```\n", "```json\n1\n", "{", "[", "[1,", '{"a":',
    '[0,"a"] ', "answer: ", "sk-", "-----BEGIN PRIVATE KEY-----\n", "&#x", "\\boxed{", "\x1b[31m",
)  # fmt: skip

ANSWERS: Mapping[str, Body] = {
    **{f"text of {unit!r}": partial(much, unit) for unit in UNITS},
    "tool calls": lambda size: calls(size // 90),
    "a tool call": lambda size: calls(1, arguments="[" * size),
    "parts": lambda size: message(content=[{"type": "text", "text": "a"}] * (size // 32)),
    "parts of thinking": lambda size: message(
        content="a", reasoning_details=[{"type": "reasoning.text", "text": "a"}] * (size // 42)
    ),
    "kept and deep": lambda _: message(
        reasoning_details=json.loads("[" * 400 + "]" * 400),
        tool_calls=[{"id": "c", "function": {"name": "look", "arguments": "{}"}}],
    ),
    "deep": lambda size: b'{"choices":' + b"[" * size,
    "names": lambda size: json.dumps({f"n{number}": 1 for number in range(size // 14)}).encode(),
    "choices": lambda size: b'{"choices": [' + b"{}," * (size // 3) + b"{}]}",
    "no JSON": lambda size: b"\xff" * size,
    "digits": lambda size: b'{"choices": ' + b"9" * size + b"}",
    "too large": lambda _: b" " * (LARGEST_ANSWER + 1),
    "nothing": lambda _: b"",
}
"""Answers, by what they are."""

STREAMS: Mapping[str, Body] = {
    "words": lambda size: deltas([{"content": "a "}] * (size // 60)),
    "calls": lambda size: deltas(
        [
            {"tool_calls": [{"index": number, "id": f"c{number}", "function": {"name": "look"}}]}
            for number in range(size // 120)
        ]
    ),
    "calls without places": lambda size: deltas(
        [
            {"tool_calls": [{"id": f"c{number}", "function": {"arguments": "{}"}}]}
            for number in range(size // 120)
        ]
    ),
    "parts": lambda size: deltas(
        [
            {"content": [{"type": "text", "index": number, "text": "a"}]}
            for number in range(size // 100)
        ]
    ),
    "a part that goes on": lambda size: deltas(
        [{"content": [{"type": "text", "text": "a" * 90}]}] * (size // 180)
    ),
    "a call that says its name with every piece": lambda size: deltas(
        [{"tool_calls": [{"index": 0, "function": {"name": "look", "arguments": '{"}'}}]}]
        * (size // 120)
    ),
    "names in every chunk": lambda size: b"".join(
        b'data: {"n%d": 1}\n\n' % number for number in range(size // 20)
    ),
    "events of nothing": lambda size: b"data: {}\n\n" * (size // 10),
    "an event of empty lines": lambda size: b"data:\n" * (size // 6),
    "a long event": lambda size: b"data: [" + b"{}," * (size // 3) + b"{}]\n\n",
    "one line": lambda size: b"data: " + b"a" * size,
    "empty lines": lambda size: b"\n" * size,
    "too much": lambda _: (b":" * 9_999 + b"\n") * (LARGEST_STREAM // 10_000 + 1),
}
"""Streams, by what they are."""

BLOCKS: Mapping[str, Mapping[str, Any]] = {
    "text": {"type": "text", "text": "a"},
    "thinking": {"type": "thinking", "thinking": "a", "signature": "s"},
    "calls": {"type": "tool_use", "id": "t", "name": "look", "input": {}},
    "nothing known": {"type": "x"},
}
ITEMS: Mapping[str, Mapping[str, Any]] = {
    "text": {"type": "message", "content": [{"type": "output_text", "text": "a"}]},
    "thinking": {"type": "reasoning", "summary": [{"type": "summary_text", "text": "a"}]},
    "calls": {"type": "function_call", "call_id": "c", "name": "look", "arguments": "{}"},
    "nothing known": {"type": "x"},
}


def blocks(record: Mapping[str, Any], size: int) -> bytes:
    """Write an answer of Anthropic's API with many blocks."""
    content = [record] * (size // len(json.dumps(record)))
    usage = {"input_tokens": 10, "output_tokens": 10}
    fields = {"type": "message", "model": "m", "content": content, "usage": usage}
    return json.dumps({**fields, "stop_reason": "end_turn"}).encode()


def items(record: Mapping[str, Any], size: int) -> bytes:
    """Write an answer of the Responses API with many items."""
    output = [record] * (size // len(json.dumps(record)))
    usage = {"input_tokens": 10, "output_tokens": 10}
    return json.dumps({"status": "completed", "output": output, "usage": usage}).encode()


def streamed(*events: Mapping[str, Any]) -> bytes:
    """Write events."""
    return b"".join(b"data: " + json.dumps(event).encode() + b"\n\n" for event in events)


def streamed_blocks(record: Mapping[str, Any], size: int) -> bytes:
    """Write a stream of Anthropic's API with many blocks."""
    count = size // 150
    begun = {"type": "message_start", "message": {"model": "m", "content": [], "usage": {}}}
    starts = [
        {"type": "content_block_start", "index": place, "content_block": record}
        for place in range(count)
    ]
    end = {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {}}
    return streamed(begun, *starts, end, {"type": "message_stop"})


def block_of_pieces(delta: Mapping[str, Any], size: int) -> bytes:
    """Write a stream of Anthropic's API with one block in many pieces."""
    block = BLOCKS["calls" if delta["type"] == "input_json_delta" else "text"]
    begun = {"type": "message_start", "message": {"model": "m", "content": [], "usage": {}}}
    start = {"type": "content_block_start", "index": 0, "content_block": block}
    piece = {"type": "content_block_delta", "index": 0, "delta": delta}
    end = {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {}}
    return streamed(begun, start, *[piece] * (size // 90), end, {"type": "message_stop"})


def streamed_items(record: Mapping[str, Any], size: int) -> bytes:
    """Write a stream of the Responses API with many items."""
    added = [
        {"type": "response.output_item.added", "output_index": place, "item": record}
        for place in range(size // 150)
    ]
    done = {"status": "completed", "output": [], "usage": {}}
    return streamed(*added, {"type": "response.completed", "response": done})


def item_of_pieces(size: int) -> bytes:
    """Write a stream of the Responses API with one item in many pieces."""
    item = {"type": "message", "content": []}
    added = {"type": "response.output_item.added", "output_index": 0, "item": item}
    piece = {"type": "response.output_text.delta", "output_index": 0, "delta": "a "}
    done = {"status": "completed", "output": [], "usage": {}}
    end = {"type": "response.completed", "response": done}
    return streamed(added, *[piece] * (size // 80), end)


ANY = ("deep", "names", "no JSON", "digits", "nothing")
OTHERS: Mapping[str, Mapping[str, Body]] = {
    "anthropic": {
        **{item: ANSWERS[item] for item in ANY},
        **{f"blocks of {item}": partial(blocks, block) for item, block in BLOCKS.items()},
        **{
            f"a stream of {item}": partial(streamed_blocks, block) for item, block in BLOCKS.items()
        },
        "a text in pieces": partial(block_of_pieces, {"type": "text_delta", "text": "a "}),
        "a call in pieces": partial(
            block_of_pieces, {"type": "input_json_delta", "partial_json": "["}
        ),
    },
    "responses": {
        **{item: ANSWERS[item] for item in ANY},
        **{f"items of {entry}": partial(items, item) for entry, item in ITEMS.items()},
        **{f"a stream of {entry}": partial(streamed_items, item) for entry, item in ITEMS.items()},
        "a text in pieces": item_of_pieces,
    },
}
"""Answers and streams of the other APIs, by what they are."""


@contextmanager
def provider(bodies: Sequence[bytes], kind: str) -> Generator[str]:
    """Serve bodies one after the other, the last one again and again; give the address."""
    ahead = itertools.chain(bodies, itertools.repeat(bodies[-1]))

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            body = next(ahead)
            self.send_response(200)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            try:
                self.wfile.write(body)
            except ConnectionError:
                return  # it was too much for who asked

        def log_message(self, format: str, *_: Any) -> None:  # noqa: A002 - the library's name
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@contextmanager
def watched(monkeypatch: pytest.MonkeyPatch) -> Generator[None]:
    """Assert that no step holds an event loop for long: by the calls within it."""
    most, whose = 0, ""
    run = asyncio.events.Handle._run  # pyright: ignore[reportPrivateUsage]

    def counted(handle: asyncio.events.Handle) -> None:
        nonlocal most, whose
        calls = 0

        def count(*_: object) -> None:
            nonlocal calls
            calls += 1

        before = sys.getprofile()
        sys.setprofile(count)
        try:
            run(handle)
        finally:
            sys.setprofile(before)
        if calls > most:
            most, whose = calls, repr(handle)

    with monkeypatch.context() as patched:
        patched.setattr(asyncio.events.Handle, "_run", counted)
        yield
    assert most <= MOST_CALLS, f"{most} calls at once: {whose}"
