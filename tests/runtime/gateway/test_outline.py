"""Bodies that are written from an outline say what they would say written as a whole."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coterie.runtime.gateway import ChatRequest, Endpoint
from coterie.runtime.gateway.outline import MOST_OUTLINES, Outlines
from coterie.runtime.gateway.wires import WIRES

TOOL = {"type": "function", "function": {"name": "look", "parameters": {"type": "object"}}}
ENDPOINTS = [
    Endpoint(kind="openai", model="m", api_base="http://one/v1"),
    Endpoint(kind="openai", model="m", stream=False, top_p=0.5, extra={"seed": 5, "n": {"a": 1}}),
    Endpoint(kind="openai", model="gemini-3-pro", effort="low", thinking=99),
    Endpoint(kind="openai", model="m", extra={"messages": "none", "tools": {}, "x": "é"}),
    Endpoint(kind="local", model="m"),
    Endpoint(kind="litellm", model="p/m", extra={"x": 1}),
]
CALLED: list[dict[str, Any]] = [
    {"role": "user", "content": "\ud800 and é"},
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {"id": "1", "type": "function", "function": {"name": "look", "arguments": "{}"}}
        ],
    },
    {"role": "tool", "tool_call_id": "1", "content": "Nothing."},
]
REQUESTS = st.builds(
    ChatRequest,
    model=st.just("m"),
    messages=st.sampled_from([[{"role": "user", "content": "Hi"}], CALLED, CALLED[:1], []]),
    max_tokens=st.sampled_from([10, 4096]),
    temperature=st.sampled_from([None, 0.0, 0.7]),
    top_p=st.sampled_from([None, 0.9]),
    effort=st.sampled_from([None, "none", "low"]),
    seed=st.sampled_from([None, 0, 5, 7]),
    stop=st.sampled_from([(), ("END",)]),
    tools=st.sampled_from([(), (TOOL,), (TOOL, TOOL)]),
    tool_choice=st.sampled_from([None, "auto", "required", {"function": {"name": "look"}}]),
    schema=st.sampled_from([None, None, {"type": "object"}]),
)
REFUSED = [
    "seed=5",
    "seed=7",
    "temperature=0.7",
    "max_tokens=max_tokens",
    "stream=with options",
    "tool_choice=required",
    "reasoning_effort=low",
]


@given(
    st.sampled_from(ENDPOINTS),
    st.sampled_from(sorted(WIRES)),
    st.lists(st.tuples(REQUESTS, st.none() | st.sampled_from(REFUSED)), max_size=12),
)
def test_a_body_from_an_outline_is_the_body(
    endpoint: Endpoint, api: str, asked: list[tuple[ChatRequest, str | None]]
) -> None:
    outlines, wire, refused = Outlines(), WIRES[api], set[str]()
    for request, refused_now in asked:
        refused |= {refused_now} if refused_now else set()
        body = outlines.body(wire, endpoint, request, refused)
        whole = wire.body(endpoint, request, refused)
        assert body == whole
        assert list(json.loads(body.content)) == list(json.loads(whole.content))


def test_a_seed_that_is_refused_stays_left_out() -> None:
    outlines, wire = Outlines(), WIRES["chat"]
    for seed in (1, 2, 1):
        request = ChatRequest(model="m", messages=CALLED[:1], seed=seed)
        body = outlines.body(wire, ENDPOINTS[0], request, {"seed=1"})
        assert ("seed" in body.fields) == (seed == 2)


def test_what_is_kept_has_none_of_the_words() -> None:
    outlines, wire = Outlines(), WIRES["chat"]
    words = "said once " * 10
    request = ChatRequest(model="m", messages=[{"role": "user", "content": words}], tools=(TOOL,))
    outlines.body(wire, ENDPOINTS[0], request, frozenset())
    assert "said once" not in repr(outlines)
    assert "look" not in repr(outlines)


@pytest.mark.parametrize("count", [1, MOST_OUTLINES, 3 * MOST_OUTLINES])
def test_no_more_outlines_are_kept_than_a_few(count: int) -> None:
    outlines, wire = Outlines(), WIRES["chat"]
    for number in range(count):
        request = ChatRequest(model="m", messages=CALLED[:1], max_tokens=1 + number)
        outlines.body(wire, ENDPOINTS[0], request, frozenset())
        assert 0 < len(outlines._kept) <= MOST_OUTLINES
