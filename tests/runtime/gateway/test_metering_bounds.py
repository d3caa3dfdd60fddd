"""What is bounded of a call: the tools of its answer, its prompt, and what it may have cost."""

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest

from coterie.runtime.gateway import CallError, ChatAnswer, ChatRequest, Gateway
from coterie.runtime.gateway.http import streamed
from coterie.runtime.gateway.metering import characters_in
from coterie.runtime.gateway.prices import context_of
from coterie.runtime.values.bounds import LARGEST_PROMPT, MOST_TOOL_CALLS
from coterie.runtime.values.budget import Budget
from coterie.schema import Model

from ...hostile import STREAMS, calls, deltas, message, provider

PRICED = {"usd_per_mtok_input": 1.0, "usd_per_mtok_output": 1.0}
JSON, EVENTS = "application/json", "text/event-stream"


def asked(
    body: bytes, text: str, kind: str = JSON, *, model: str = "m", budget: Budget | None = None
) -> ChatAnswer:
    """Ask the provider of this body once; `openai/…` is found by its variables."""

    async def once(base: str) -> ChatAnswer:
        named: Mapping[str, Any] = {} if "/" in model else {"api_base": base, **PRICED}
        models = {"m": Model(alias="m", model=model, **named)}
        where = {"OPENAI_API_KEY": "k", "OPENAI_BASE_URL": base}
        request = ChatRequest(
            model="m", messages=[{"role": "user", "content": text}], max_tokens=100, retries=0
        )
        async with Gateway(models, environment=where) as gateway:
            return await gateway.chat(request, budget=budget)

    with provider([body], kind) as base:
        return asyncio.run(once(base))


@pytest.mark.parametrize(
    ("body", "kind"), [(calls(1_000), JSON), (STREAMS["calls"](100_000), EVENTS)]
)
def test_of_many_tool_calls_the_first_are_done_and_it_is_told(body: bytes, kind: str) -> None:
    answer = asked(body, "Look!", kind)
    assert [call.id for call in answer.tool_calls] == [
        f"c{number}" for number in range(MOST_TOOL_CALLS)
    ]
    assert answer.text.startswith(f"[Only the first {MOST_TOOL_CALLS} tool calls of an answer")


def test_as_many_calls_as_are_done_are_told_nothing() -> None:
    answer = asked(calls(MOST_TOOL_CALLS), "Look!")
    assert (len(answer.tool_calls), answer.text) == (MOST_TOOL_CALLS, "")


def test_a_prompt_that_is_too_large_is_not_sent_and_costs_nothing() -> None:
    budget = Budget()
    with pytest.raises(CallError, match=r"prompt was not sent.* 8,388,609 characters") as caught:
        asked(message(content="never"), "x" * (LARGEST_PROMPT + 1), budget=budget)
    assert caught.value.kind == "overflow"
    assert caught.value.usage.value() == budget.spent.value() == Budget().spent.value()


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(b": nothing\n" * 110_000, id="events"),
        pytest.param(b"data: " + b"a" * 900_000, id="an event that does not end"),
        pytest.param(deltas([{"content": "a" * 90}] * 120), id="a text in pieces"),
    ],
)
def test_a_stream_that_is_too_long_is_none(body: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streamed, "LARGEST_ANSWER", 10_000)
    monkeypatch.setattr(streamed, "LARGEST_STREAM", 1_000_000)
    with pytest.raises(CallError, match="an answer of more than") as caught:
        asked(body, "Go on!", EVENTS)
    assert caught.value.usage.uncertain_calls == 1


def test_all_that_is_said_counts_as_prompt() -> None:
    call = {"id": "c", "function": {"name": "look", "arguments": "four"}}
    parts = [{"type": "text", "text": "six..."}, {"type": "image_url", "image_url": {"url": "x"}}]
    assert characters_in(
        [
            {"role": "user", "content": "three"},
            {"role": "user", "content": parts},
            {"role": "assistant", "content": None, "tool_calls": [call]},
        ]
    ) == len("three" + "six..." + "four")


def test_a_call_without_an_answer_costs_no_more_than_its_model_can_read() -> None:
    known = context_of(Model(alias="m", model="openai/gpt-4o-mini"))
    assert known == 128_000
    with pytest.raises(CallError) as caught:
        asked(b"", "x" * 2_000_000, model="openai/gpt-4o-mini")
    usage = caught.value.usage
    assert (usage.uncertain_calls, usage.prompt_tokens) == (1, known)
    assert 0 < usage.usd < 0.05


def test_where_nobody_knows_what_a_model_reads_it_is_all_that_was_sent() -> None:
    assert context_of(Model(alias="m", model="own", api_base="http://127.0.0.1:9/v1")) is None
    with pytest.raises(CallError) as caught:
        asked(b"", "x" * 300_000)
    assert caught.value.usage.prompt_tokens > 150_000
