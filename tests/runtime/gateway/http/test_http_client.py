"""OpenAI-compatible endpoints: what is sent, what comes back, and what may have been billed."""

import asyncio
import gzip
import json
import socket
from dataclasses import replace
from typing import Any

import pytest

from coterie.runtime.doubles import Reply, ScriptedModel
from coterie.runtime.gateway import CallError, ChatAnswer, ChatRequest, Endpoint
from coterie.runtime.gateway.chat.body import Body
from coterie.runtime.gateway.http import http_client
from coterie.runtime.gateway.http.http_client import HttpClient
from coterie.runtime.gateway.wires import WIRES

REQUEST = ChatRequest(model="default", messages=[{"role": "user", "content": "\ud83d \u6f22"}])


def body(endpoint: Endpoint) -> Body:
    return WIRES["chat"].body(endpoint, REQUEST, set())


def once(api_base: str, *, key: str | None = None) -> ChatAnswer:
    endpoint = Endpoint(kind="openai", model="m", api_base=api_base, key=key)

    async def call() -> ChatAnswer:
        client = HttpClient()
        try:
            return await client.chat(endpoint, body(endpoint))
        finally:
            await client.close()
            await client.close()

    return asyncio.run(call())


def test_what_is_sent_is_what_is_counted() -> None:
    body = WIRES["chat"].body(Endpoint(kind="openai", model="m"), REQUEST, {"temperature"})
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
        (Reply.fault("close_after_headers"), "down", True),
        (Reply.fault("truncated_body"), "down", True),
        (Reply.fault("half_json"), "malformed", True),
        (Reply.fault("empty_body"), "malformed", True),
        (Reply.fault("html_body"), "malformed", True),
        (Reply.fault("large_body"), "malformed", True),
        (Reply.fault("no_choices"), "malformed", True),
        (Reply.fault("context_overflow"), "overflow", False),
    ],
)
def test_what_a_failure_may_have_cost(reply: Reply, kind: str, billed: bool) -> None:
    with ScriptedModel(reply) as model:
        with pytest.raises(CallError) as caught:
            once(model.api_base)
        assert model.api_base in str(caught.value)
    assert (caught.value.kind, caught.value.may_be_billed) == (kind, billed)


def test_who_cannot_be_reached_has_billed_nothing() -> None:
    with pytest.raises(CallError, match="Is the endpoint running") as caught:
        once("http://127.0.0.1:9/v1")
    assert (caught.value.kind, caught.value.may_be_billed) == ("down", False)


def test_retry_after_is_read() -> None:
    with (
        ScriptedModel(Reply.error(503, retry_after=12)) as model,
        pytest.raises(CallError) as caught,
    ):
        once(model.api_base)
    assert caught.value.retry_after == 12.0
    assert "minute" not in str(caught.value)


def test_a_wait_that_no_retry_awaits_is_said() -> None:
    with (
        ScriptedModel(Reply.error(429, message="slow down", retry_after=3600)) as model,
        pytest.raises(CallError, match=r"slow down.*\. It asks to wait for a minute or longer\."),
    ):
        once(model.api_base)


async def test_a_small_answer_that_unpacks_to_a_huge_one_is_cut_off() -> None:
    packed = gzip.compress(b" " * (32 << 20), compresslevel=9)
    head = f"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: {len(packed)}\r\n\r\n"

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(head.encode() + packed)
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    endpoint = Endpoint(kind="openai", model="m", api_base=f"http://127.0.0.1:{port}/v1")
    client = HttpClient()
    async with server:
        with pytest.raises(CallError, match="more than 2 MiB") as caught:
            await client.chat(endpoint, body(endpoint))
        await client.close()
    assert caught.value.kind == "malformed"


ANSWER = json.dumps({"choices": [{"message": {"content": "four"}, "finish_reason": "stop"}]})


class Served:
    """A server that has one answer to every request."""

    def __init__(self) -> None:
        self.connections: list[asyncio.StreamWriter] = []
        self._tasks: list[asyncio.Task[Any] | None] = []

    async def __aenter__(self) -> Endpoint:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        port = self._server.sockets[0].getsockname()[1]
        return Endpoint(kind="openai", model="m", api_base=f"http://127.0.0.1:{port}/v1")

    async def __aexit__(self, *_: object) -> None:
        self._server.close()
        await asyncio.wait([task for task in self._tasks if task])

    def end_all(self) -> None:
        """End the connections that there are, at once."""
        for writer in self.connections:
            writer.get_extra_info("socket").shutdown(socket.SHUT_WR)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._tasks.append(asyncio.current_task())
        self.connections.append(writer)
        while b"content-length" in (head := await headers(reader)):
            await reader.readexactly(int(head[b"content-length"]))
            length = f"Content-Length: {len(ANSWER)}"
            writer.write(f"HTTP/1.1 200 OK\r\n{length}\r\n\r\n{ANSWER}".encode())
        writer.close()
        await writer.wait_closed()


@pytest.mark.parametrize(("trusted", "connections"), [(3600.0, 1), (0.0, 2)])
async def test_a_connection_that_its_server_may_be_closing_is_not_used(
    trusted: float, connections: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http_client, "IDLE_SECONDS", trusted)
    served, client = Served(), HttpClient()
    async with served as endpoint:
        await client.chat(endpoint, body(endpoint))
        await client.chat(endpoint, body(endpoint))
        await client.close()
    assert len(served.connections) == connections


async def test_what_did_not_go_out_is_sent_at_once_and_idle_connections_are_used_no_more() -> None:
    served, client = Served(), HttpClient()
    async with served as endpoint:
        three = (client.chat(endpoint, body(endpoint)) for _ in range(3))
        await asyncio.gather(*three)
        served.end_all()
        # The next request is begun in this turn of the loop, before their ends are read.
        await asyncio.sleep(0)
        answers = [await client.chat(endpoint, body(endpoint)) for _ in range(3)]
        await client.close()
    assert [answer.text for answer in answers] == ["four"] * 3
    assert len(served.connections) == 6


async def test_each_request_of_the_embedded_server_has_its_own_connection() -> None:
    served, client = Served(), HttpClient()
    async with served as endpoint:
        here = replace(endpoint, kind="local")
        await client.chat(here, body(here))
        await client.chat(here, body(here))
        await client.close()
    assert len(served.connections) == 2


async def headers(reader: asyncio.StreamReader) -> dict[bytes, bytes]:
    """Read the head of a request; an empty one at the end of the connection."""
    table: dict[bytes, bytes] = {}
    while line := (await reader.readline()).strip():
        name, _, value = line.partition(b":")
        table[name.lower()] = value
    return table
