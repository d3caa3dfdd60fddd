"""Streamed answers come to what they would have been without streaming.

The events have the names and fields that are documented here, as of 2026-11-22:

* platform.claude.com/docs/en/build-with-claude/streaming
* developers.openai.com/api/reference/resources/responses/streaming-events
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from coterie.runtime.gateway.wires import WIRES
from coterie.runtime.gateway.wires.anthropic_stream import AnthropicAssembly
from coterie.runtime.gateway.wires.responses_stream import ResponsesAssembly

TEXT = st.text(max_size=12)
ANTHROPIC_BLOCKS = st.one_of(
    st.builds(lambda text: {"type": "text", "text": text}, TEXT),
    st.builds(
        lambda text, sign: {"type": "thinking", "thinking": text, "signature": sign}, TEXT, TEXT
    ),
    st.builds(lambda data: {"type": "redacted_thinking", "data": data}, TEXT),
    st.builds(
        lambda value: {"type": "tool_use", "id": "toolu_1", "name": "f", "input": value},
        st.dictionaries(TEXT, TEXT, max_size=2),
    ),
)
EMPTY: Mapping[str, Any] = {"text": "", "thinking": "", "signature": "", "input": {}}
DELTAS = {
    "text": ("text_delta", "text"),
    "thinking": ("thinking_delta", "thinking"),
    "signature": ("signature_delta", "signature"),
    "input": ("input_json_delta", "partial_json"),
}


def cut(text: str, size: int) -> Iterator[str]:
    return (text[start : start + size] for start in range(0, len(text), size))


def message_events(blocks: Sequence[Mapping[str, Any]], size: int) -> Iterator[dict[str, Any]]:
    usage = {"input_tokens": 472, "cache_read_input_tokens": 100, "output_tokens": 2}
    begun = {"id": "msg_1", "role": "assistant", "content": [], "model": "claude-sonnet-4-5"}
    stopped = {"stop_reason": None, "stop_sequence": None}
    yield {"type": "message_start", "message": {**begun, **stopped, "usage": usage}}
    yield {"type": "ping"}
    for place, block in enumerate(blocks):
        start = {name: EMPTY.get(name, item) for name, item in block.items()}
        yield {"type": "content_block_start", "index": place, "content_block": start}
        for name, (kind, field) in DELTAS.items():
            said = block.get(name, "")
            for piece in cut(said if isinstance(said, str) else json.dumps(said), size):
                delta = {"type": kind, field: piece}
                yield {"type": "content_block_delta", "index": place, "delta": delta}
        yield {"type": "content_block_stop", "index": place}
    delta = {"stop_reason": "tool_use", "stop_sequence": None}
    yield {"type": "message_delta", "delta": delta, "usage": {"output_tokens": 89}}
    yield {"type": "message_stop"}


@given(st.lists(ANTHROPIC_BLOCKS, max_size=4), st.integers(1, 5))
def test_a_streamed_message_is_the_message(blocks: list[Any], size: int) -> None:
    assembly = AnthropicAssembly()
    words = "".join(assembly.add(event) for event in message_events(blocks, size))
    assert assembly.is_whole
    body = assembly.body()
    assert body["content"] == blocks
    shown = [block.get("text", "") + block.get("thinking", "") for block in blocks]
    assert words == "".join(shown)
    answer = WIRES["anthropic"].answer(body, "h")
    assert (answer.usage.prompt_tokens, answer.usage.cached_tokens) == (572, 100)
    assert (answer.usage.completion_tokens, answer.finish_reason) == (89, "tool_calls")


def test_a_tool_that_is_cut_off_is_what_was_written() -> None:
    use = {"type": "tool_use", "id": "toolu_1", "name": "f", "input": {"city": "Paris"}}
    assembly = AnthropicAssembly()
    for event in list(message_events([use], 6))[:-4]:
        assembly.add(event)
    assert not assembly.is_whole
    (call,) = WIRES["anthropic"].answer(assembly.body(), "h").tool_calls
    assert call.arguments == '{"city": "Pa'


ITEMS = st.one_of(
    st.builds(
        lambda text: {
            "type": "message",
            "content": [{"type": "output_text", "text": text, "annotations": []}],
        },
        TEXT,
    ),
    st.builds(
        lambda text: {"type": "function_call", "call_id": "c", "name": "f", "arguments": text}, TEXT
    ),
    st.builds(
        lambda text: {
            "type": "reasoning",
            "summary": [{"type": "summary_text", "text": text}],
            "encrypted_content": "gAAA",
        },
        TEXT,
    ),
)
KINDS = {
    "message": "response.output_text.delta",
    "function_call": "response.function_call_arguments.delta",
    "reasoning": "response.reasoning_summary_text.delta",
}


def written(item: Mapping[str, Any]) -> str:
    parts = item.get("content") or item.get("summary")
    return parts[0]["text"] if parts else item["arguments"]


def response_events(items: Sequence[Any], size: int) -> Iterator[dict[str, Any]]:
    response = {"id": "resp_1", "status": "in_progress", "output": [], "model": "gpt-5-pro"}
    yield {"type": "response.created", "response": response}
    for place, item in enumerate(items):
        empty = {**item, "content": [], "arguments": ""}
        yield {"type": "response.output_item.added", "output_index": place, "item": empty}
        for piece in cut(written(item), size):
            yield {"type": KINDS[item["type"]], "output_index": place, "delta": piece}
        yield {"type": "response.output_item.done", "output_index": place, "item": item}
    usage = {"input_tokens": 36, "output_tokens": 87}
    done = {**response, "status": "completed", "output": items, "usage": usage}
    yield {"type": "response.completed", "response": done}


@given(st.lists(ITEMS, max_size=4), st.integers(1, 5), st.booleans())
def test_a_streamed_response_is_the_response(
    items: list[Any], size: int, reports_usage: bool
) -> None:
    *events, last = response_events(items, size)
    assembly = ResponsesAssembly()
    words = "".join(assembly.add(event) for event in events)
    assert not assembly.is_whole
    assembly.add(
        last if reports_usage else {**last, "response": {**last["response"], "output": []}}
    )
    assert assembly.is_whole
    assert assembly.body()["output"] == items
    assert words == "".join(written(item) for item in items if item["type"] != "function_call")
    assert WIRES["responses"].answer(assembly.body(), "h").usage.completion_tokens == 87


@given(st.lists(ITEMS, min_size=1, max_size=3), st.integers(1, 5))
def test_a_response_that_breaks_off_is_as_much_as_came(items: list[Any], size: int) -> None:
    events = list(response_events(items, size))[:-2]
    assembly = ResponsesAssembly()
    for event in events:
        assembly.add(event)
    answer = WIRES["responses"].answer(assembly.body(), "h")
    assert len(answer.tool_calls) == sum(item["type"] == "function_call" for item in items)
    assert [call.arguments for call in answer.tool_calls] == [
        item["arguments"] for item in items if item["type"] == "function_call"
    ]


NOISE = st.dictionaries(
    st.sampled_from(["type", "index", "output_index", "delta", "item", "response", "message"]),
    st.one_of(
        st.none(),
        st.integers(0, 1),
        st.sampled_from([*KINDS.values(), "content_block_delta", "content_block_start"]),
        st.dictionaries(st.sampled_from(["type", "text", "output"]), TEXT, max_size=2),
        st.lists(st.integers(), max_size=1),
    ),
    max_size=4,
)


@given(st.lists(NOISE, max_size=5))
def test_any_event_is_taken(events: list[Any]) -> None:
    for assembly in (AnthropicAssembly(), ResponsesAssembly()):
        for event in events:
            assembly.add(event)
        assembly.body()
