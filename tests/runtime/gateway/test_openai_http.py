"""OpenAI-compatible endpoints: what is sent, what comes back, and what may have been billed."""

from __future__ import annotations

import asyncio
import gzip
import json
from typing import Any

import pytest

from coterie.runtime.doubles import Reply, ScriptedModel
from coterie.runtime.gateway import CallError, ChatAnswer, ChatRequest, Endpoint
from coterie.runtime.gateway.body import Body
from coterie.runtime.gateway.openai_http import OpenAIClient

REQUEST = ChatRequest(model="default", messages=[{"role": "user", "content": "\ud83d \u6f22"}])


def once(api_base: str, *, key: str | None = None) -> ChatAnswer:
    endpoint = Endpoint(kind="openai", model="m", api_base=api_base, key=key)

    async def call() -> ChatAnswer:
        client = OpenAIClient()
        try:
            return await client.chat(endpoint, Body.of(endpoint, REQUEST, set()))
        finally:
            await client.close()
            await client.close()

    return asyncio.run(call())


def test_what_is_sent_is_what_is_counted() -> None:
    body = Body.of(Endpoint(kind="openai", model="m"), REQUEST, {"temperature"})
    assert json.loads(body.content) == body.fields
    with ScriptedModel("four") as model:
        assert once(model.api_base).text == "four"
        assert model.calls[0].body == body.fields


@pytest.mark.parametrize(
    ("reply", "kind", "billed"),
    [
        (Reply.error(429, retry_after=7), "busy", False),
        (Reply.error(408), "busy", True),
        (Reply.error(500), "down", False),
        (Reply.error(502), "down", True),
        (Reply.error(503), "down", False),
        (Reply.error(504), "down", True),
        (Reply.error(400), "rejected", False),
        (Reply.error(401), "denied", False),
        (
            Reply(status=302, headers={"location": "http://127.0.0.1:9/"}, body=""),
            "rejected",
            False,
        ),
        (Reply.fault("close_before_headers"), "down", True),
        (Reply.fault("truncated_body"), "down", True),
        (Reply.fault("html_body"), "malformed", True),
        (Reply.fault("context_overflow"), "overflow", False),
    ],
)
def test_what_a_failure_may_have_cost(reply: Reply, kind: str, billed: bool) -> None:
    with ScriptedModel(reply) as model, pytest.raises(CallError) as caught:
        once(model.api_base)
    assert (caught.value.kind, caught.value.may_be_billed) == (kind, billed)


def test_who_cannot_be_reached_has_billed_nothing() -> None:
    with pytest.raises(CallError, match="Is the endpoint running") as caught:
        once("http://127.0.0.1:9/v1")
    assert (caught.value.kind, caught.value.may_be_billed) == ("down", False)


@pytest.mark.parametrize("said", ["12", "0.25", "Wed, 21 Oct 2015 07:28:00 GMT", "soon"])
def test_retry_after_is_read(said: str) -> None:
    reply = Reply.error(503, retry_after=said)
    with ScriptedModel(reply) as model, pytest.raises(CallError) as caught:
        once(model.api_base)
    assert caught.value.retry_after == {"12": 12.0, "0.25": 0.25}.get(said)


def test_a_small_answer_that_unpacks_to_a_huge_one_is_cut_off() -> None:
    packed = gzip.compress(b" " * (32 << 20), compresslevel=9)
    head = f"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: {len(packed)}\r\n\r\n"

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(head.encode() + packed)
        await writer.drain()
        writer.close()

    async def scene() -> Any:
        server = await asyncio.start_server(answer, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        endpoint = Endpoint(kind="openai", model="m", api_base=f"http://127.0.0.1:{port}/v1")
        client = OpenAIClient()
        async with server:
            with pytest.raises(CallError, match="more than 8 MiB") as caught:
                await client.chat(endpoint, Body.of(endpoint, REQUEST, set()))
            await client.close()
        return caught.value.kind

    assert asyncio.run(scene()) == "malformed"
