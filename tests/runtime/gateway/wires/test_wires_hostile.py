"""Answers and streams of every API, spoilt in any place: an answer, or one error, and cheap."""

import json
import random
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

import pytest

from coterie.runtime.gateway.chat.answer import failure_in, parsed
from coterie.runtime.gateway.chat.errors import CallError
from coterie.runtime.gateway.wires import WIRES

from ....damage import altered
from .test_wires_streamed import message_events, response_events

CALL = {"id": "c", "type": "function", "function": {"name": "look", "arguments": '{"a": 1}'}}
BLOCKS = [
    {"type": "thinking", "thinking": "Hm.", "signature": "EqMB"},
    {"type": "redacted_thinking", "data": "abc"},
    {"type": "text", "text": "four"},
    {"type": "tool_use", "id": "toolu_1", "name": "look", "input": {"a": 1}},
]
ITEMS = [
    {
        "type": "reasoning",
        "summary": [{"type": "summary_text", "text": "Hm."}],
        "encrypted_content": "gAAA",
    },
    {"type": "message", "content": [{"type": "output_text", "text": "four", "annotations": []}]},
    {"type": "function_call", "call_id": "c", "name": "look", "arguments": '{"a": 1}'},
]
DELTAS = [
    {"role": "assistant", "content": ""},
    {"reasoning_content": "Hm."},
    {"reasoning_details": [{"type": "reasoning.text", "text": "Hm.", "index": 0}]},
    {"content": "fo"},
    {"content": [{"type": "text", "text": "ur"}]},
    {"tool_calls": [{"index": 0, **CALL, "extra_content": {"google": {"signature": "x"}}}]},
    {"tool_calls": [{"index": 0, "function": {"arguments": "{}"}}]},
]
CHAT_USAGE = {
    "prompt_tokens": 10,
    "completion_tokens": 9,
    "prompt_tokens_details": {"cached_tokens": 4},
    "completion_tokens_details": {"reasoning_tokens": 2},
    "cost": 0.01,
}
BODIES: Mapping[str, Mapping[str, Any]] = {
    "chat": {
        "model": "m",
        "system_fingerprint": "fp",
        "choices": [
            {
                "index": 0,
                "finish_reason": "tool_calls",
                "message": {
                    "role": "assistant",
                    "content": [{"type": "text", "text": "four"}],
                    "refusal": None,
                    "reasoning_content": "Hm.",
                    "reasoning_details": [{"type": "reasoning.text", "text": "Hm."}],
                    "tool_calls": [CALL],
                },
            }
        ],
        "usage": CHAT_USAGE,
    },
    "anthropic": {
        "type": "message",
        "role": "assistant",
        "model": "claude-sonnet-4-5",
        "content": BLOCKS,
        "stop_reason": "tool_use",
        "usage": {
            "input_tokens": 10,
            "output_tokens": 9,
            "cache_read_input_tokens": 3,
            "cache_creation_input_tokens": 2,
        },
    },
    "responses": {
        "id": "resp_1",
        "status": "completed",
        "model": "gpt-5-pro",
        "output": ITEMS,
        "incomplete_details": None,
        "error": None,
        "usage": {
            "input_tokens": 36,
            "output_tokens": 87,
            "input_tokens_details": {"cached_tokens": 4},
            "output_tokens_details": {"reasoning_tokens": 2},
        },
    },
}
STREAMS: Mapping[str, Sequence[Mapping[str, Any]]] = {
    "chat": [
        *({"model": "m", "choices": [{"index": 0, "delta": delta}]} for delta in DELTAS),
        {"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]},
        {"choices": [], "usage": CHAT_USAGE},
    ],
    "anthropic": list(message_events(BLOCKS, 3)),
    "responses": list(response_events(ITEMS, 3)),
}


def read(wire: str, content: str) -> None:
    """Read a whole answer as a client does."""
    WIRES[wire].answer(parsed("h", content.encode("utf-8", "backslashreplace")), "h")


def heard(wire: str, events: Sequence[str]) -> None:
    """Read a stream as a client does, and what it comes to."""
    assembly = WIRES[wire].assembly()
    for text in events:
        event = parsed("h", text.encode("utf-8", "backslashreplace"))
        if failure_in(event) is None:
            assert isinstance(assembly.add(event), str)
    assert isinstance(assembly.is_whole, bool)
    read(wire, json.dumps(assembly.body()))


def spoilt(events: Sequence[Mapping[str, Any]], chance: random.Random) -> tuple[str, list[str]]:
    """Spoil some events, or their order; say what."""
    texts = [json.dumps(event) for event in events]
    lines: list[str] = []
    for _ in range(chance.randint(1, 3)):
        place = chance.randrange(len(texts))
        match chance.randrange(5):
            case 0:
                texts.insert(chance.randrange(len(texts)), texts[place])
                lines.append(f"{place} again")
            case 1 if len(texts) > 1:
                lines.append(f"{place} gone: {texts.pop(place)[:80]}")
            case 2:
                chance.shuffle(texts)
                lines.append("shuffled")
            case _:
                event = json.loads(json.dumps(events[place % len(events)]))
                what, texts[place] = altered(event, chance)
                lines.append(f"{place}: {what}")
    return "; ".join(lines), texts


@pytest.mark.parametrize("wire", sorted(WIRES))
def test_a_spoilt_answer_is_an_answer_or_one_error(wire: str, nightly: bool) -> None:
    for seed in range(20_000 if nightly else 150):
        chance = random.Random(seed)
        what, text = altered(json.loads(json.dumps(BODIES[wire])), chance)
        cheaply(partial(read, wire, text), f"{seed}: {what}")


@pytest.mark.parametrize("wire", sorted(WIRES))
def test_a_spoilt_stream_is_an_answer_or_one_error(wire: str, nightly: bool) -> None:
    for seed in range(20_000 if nightly else 150):
        what, texts = spoilt(STREAMS[wire], random.Random(seed))
        cheaply(partial(heard, wire, texts), f"{seed}: {what}")


def cheaply(work: Callable[[], None], label: str) -> None:
    """Do what may end in the one error, and in no other."""
    with suppress(CallError):
        work()


@pytest.mark.parametrize("wire", sorted(WIRES))
def test_what_is_spoilt_was_sound(wire: str) -> None:
    read(wire, json.dumps(BODIES[wire]))
    heard(wire, [json.dumps(event) for event in STREAMS[wire]])
