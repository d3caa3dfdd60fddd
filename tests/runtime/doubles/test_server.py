from __future__ import annotations

import asyncio
import gc
import json
import os
import socket
import sys
import threading
from typing import TYPE_CHECKING, Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import aiohttp
import pytest

from coterie.runtime.doubles import Call, Reply, ScriptedModel

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    TextOf = Callable[..., str]


def chat(prompt: str, **fields: Any) -> dict[str, Any]:
    return {"messages": [{"role": "user", "content": prompt}], **fields}


async def ask_all(model: ScriptedModel, prompts: list[str]) -> list[str]:
    async def ask(session: aiohttp.ClientSession, prompt: str) -> str:
        async with session.post(f"{model.api_base}/chat/completions", json=chat(prompt)) as answer:
            document = await answer.json()
            return document["choices"][0]["message"]["content"]

    async with aiohttp.ClientSession() as session:
        return await asyncio.gather(*(ask(session, prompt) for prompt in prompts))


def test_urllib_gets_an_answer() -> None:
    with ScriptedModel("42") as model:
        request = Request(  # noqa: S310 - a loopback address
            f"{model.api_base}/chat/completions",
            data=json.dumps(chat("6 x 7?", model="m")).encode(),
        )
        with urlopen(request, timeout=300) as response:  # noqa: S310
            document = json.load(response)

    assert document["model"] == "m"
    assert document["choices"] == [
        {
            "index": 0,
            "message": {"role": "assistant", "content": "42"},
            "finish_reason": "stop",
        }
    ]


def test_parallel_calls_get_their_own_answers() -> None:
    prompts = [f"You are worker {number}." for number in range(8)]
    script = {prompt: str(number) for number, prompt in enumerate(prompts)}
    with ScriptedModel(script, latency=0.02) as model:
        texts = asyncio.run(ask_all(model, prompts))

    assert texts == [str(number) for number in range(8)]
    assert {call.text for call in model.calls} == set(prompts)


async def test_one_connection_takes_many_requests_one_after_the_other() -> None:
    with ScriptedModel(["1", "2", "3"]) as model:
        connector = aiohttp.TCPConnector(limit=1)
        async with aiohttp.ClientSession(connector=connector) as session:
            texts: list[str] = []
            for prompt in ["a", "b" * 300_000, "c"]:
                url = f"{model.api_base}/chat/completions"
                async with session.post(url, json=chat(prompt)) as answer:
                    texts.append((await answer.json())["choices"][0]["message"]["content"])
            assert texts == ["1", "2", "3"]
    assert model.peak == 1


def test_requests_that_do_not_wait_are_answered_in_order() -> None:
    body = json.dumps(chat("Hello")).encode()
    head = b"POST /v1/chat/completions HTTP/1.1\r\nContent-Length: %d\r\n\r\n" % len(body)
    with ScriptedModel([Reply(text="first", latency=0.05), "second"]) as model:
        port = int(model.api_base.rsplit(":", 1)[1].removesuffix("/v1"))
        with socket.create_connection(("127.0.0.1", port), timeout=300) as client:
            client.sendall(head + body + head)
            model.wait_for(lambda calls: len(calls) == 1)
            client.sendall(body)
            received = b""
            while b"second" not in received:
                received += client.recv(65_536)

    assert received.index(b"first") < received.index(b"second")


def test_a_call_is_recorded_when_its_answer_is_out(text_of: TextOf) -> None:
    with ScriptedModel(Reply(text="42", latency=0.05), key="secret") as model:
        text_of(model, headers={"Authorization": "Bearer secret", "X-Run": "7"}, seed=3)
        (call,) = model.calls

    assert (call.method, call.path) == ("POST", "/v1/chat/completions")
    assert call.authorized
    assert call.headers["x-run"] == "7"
    assert "authorization" not in call.headers
    assert call.body is not None
    assert call.body["seed"] == 3
    assert call.text == "Hello"
    assert call.reply.text == "42"
    assert call.finished is not None
    assert call.started <= call.finished - 0.05
    assert not call.abandoned


@pytest.mark.parametrize("headers", [{}, {"Authorization": "Bearer wrong"}])
def test_a_wrong_key_is_refused_and_costs_no_reply(
    ask: Callable[..., Any], text_of: TextOf, headers: Mapping[str, str]
) -> None:
    with ScriptedModel(["only one"], key="secret") as model:
        response, content = ask(model, headers=headers)
        assert response.status == 401
        assert json.loads(content)["error"]["code"] == "invalid_api_key"
        assert text_of(model, headers={"Authorization": "Bearer secret"}) == "only one"

    assert [call.authorized for call in model.calls] == [False, True]


def test_several_choices_take_one_reply_each(ask: Callable[..., Any]) -> None:
    with ScriptedModel(["a", "b", "c"]) as model:
        document = json.loads(ask(model, n=3)[1])

    assert [choice["message"]["content"] for choice in document["choices"]] == ["a", "b", "c"]
    assert [choice["index"] for choice in document["choices"]] == [0, 1, 2]


def test_an_error_is_for_all_choices_and_the_retry_gets_the_rest(ask: Callable[..., Any]) -> None:
    with ScriptedModel([Reply.error(429, retry_after=1), "a", "b"]) as model:
        response, _ = ask(model, n=2)
        assert (response.status, response.headers["retry-after"]) == (429, "1")
        assert len(json.loads(ask(model, n=2)[1])["choices"]) == 2


def test_a_stream_is_a_series_of_events(ask: Callable[..., Any]) -> None:
    with ScriptedModel("42") as model:
        response, content = ask(model, stream=True)

    assert response.headers["content-type"] == "text/event-stream"
    assert content.endswith(b"data: [DONE]\n\n")


def test_a_function_sees_the_request(text_of: TextOf) -> None:
    with ScriptedModel(lambda request: f"seed {request['seed']}") as model:
        assert text_of(model, seed=7) == "seed 7"


def test_a_function_that_fails_is_a_server_error_with_the_reason(ask: Callable[..., Any]) -> None:
    with ScriptedModel(lambda request: request["no_such_field"]) as model:
        response, content = ask(model)

    assert response.status == 500
    assert json.loads(content)["error"]["message"] == "The script failed: KeyError('no_such_field')"


def test_models_and_embeddings_are_served(ask: Callable[..., Any]) -> None:
    with ScriptedModel("unused") as model:
        listed = json.loads(ask(model, path="/models", method="GET")[1])
        embedded = json.loads(ask(model, path="/embeddings", input="a word")[1])
        refused, _ = ask(model, path="/embeddings", input=[7])

    assert [entry["id"] for entry in listed["data"]] == ["scripted"]
    assert len(embedded["data"][0]["embedding"]) == 256
    assert refused.status == 400


@pytest.mark.parametrize(
    ("path", "fields", "status"),
    [
        ("/completions", {}, 404),
        ("/chat/completions", {"messages": "Hello"}, 400),
        ("/chat/completions", {"messages": ["Hello"]}, 400),
    ],
)
def test_a_wrong_request_is_refused(
    ask: Callable[..., Any], path: str, fields: dict[str, Any], status: int
) -> None:
    with ScriptedModel("unused") as model:
        response, content = ask(model, path=path, **fields)

    assert response.status == status
    assert json.loads(content)["error"]["type"] == "invalid_request_error"


@pytest.mark.parametrize("body", [b"{not json", b"[1]", b"\xff"])
def test_a_body_that_is_no_object_is_refused(body: bytes) -> None:
    with ScriptedModel("unused") as model:
        request = Request(f"{model.api_base}/chat/completions", data=body)  # noqa: S310
        with pytest.raises(HTTPError) as caught:
            urlopen(request, timeout=300)  # noqa: S310
        caught.value.close()

    assert caught.value.code == 400
    assert model.calls[0].body is None
    assert not model.calls[0].text


async def test_a_client_that_gives_up_is_seen() -> None:
    def all_over(calls: tuple[Call, ...]) -> bool:
        return all(call.finished is not None for call in calls)

    with ScriptedModel(Reply.fault("hang")) as model:
        asking = asyncio.create_task(ask_all(model, ["Hello"]))
        await asyncio.to_thread(model.wait_for, lambda calls: len(calls) == 1)
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        (call,) = model.wait_for(all_over)

    assert call.abandoned


def test_waiting_for_calls_that_never_come_ends() -> None:
    with (
        ScriptedModel("unused") as model,
        pytest.raises(TimeoutError, match=r"the 0 calls .* within 0.01 s \(0 are open\)"),
    ):
        model.wait_for(bool, timeout=0.01)


def open_descriptors() -> int:
    gc.collect()
    return len(os.listdir("/proc/self/fd"))  # noqa: PTH208 - the path object would open one more


@pytest.mark.skipif(sys.platform != "linux", reason="counts descriptors in /proc")
def test_nothing_stays_behind_when_calls_are_open() -> None:
    def begin_calls(model: ScriptedModel) -> list[socket.socket]:
        port = int(model.api_base.rsplit(":", 1)[1].removesuffix("/v1"))
        body = json.dumps(chat("Hello")).encode()
        head = b"POST /v1/chat/completions HTTP/1.1\r\nContent-Length: %d\r\n\r\n" % len(body)
        clients = [socket.create_connection(("127.0.0.1", port), timeout=300) for _ in range(8)]
        for client in clients[2:]:
            client.sendall(head + body)
        clients[1].sendall(b"POST /v1/chat")
        model.wait_for(lambda calls: len(calls) == 6)
        return clients

    before = open_descriptors()
    replies = [Reply.fault(name) for name in ("hang", "drip", "endless_body")] * 2
    with ScriptedModel(replies) as model:
        clients = begin_calls(model)
        assert "scripted-model" in {thread.name for thread in threading.enumerate()}
    for client in clients:
        client.close()

    assert "scripted-model" not in {thread.name for thread in threading.enumerate()}
    assert all(call.abandoned for call in model.calls)
    assert model.peak == 6
    assert open_descriptors() == before


def test_a_connection_to_a_stopping_server_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    answering, stopping = threading.Event(), threading.Event()
    join = threading.Thread.join

    def busy(_: object) -> str:
        """Keep the server's loop from turning until it was told to stop."""
        answering.set()
        assert stopping.wait(300)
        return "42"

    def told_and_joined(thread: threading.Thread, timeout: float | None = None) -> None:
        stopping.set()
        join(thread, timeout)

    monkeypatch.setattr(threading.Thread, "join", told_and_joined)
    body = json.dumps(chat("Hello")).encode()
    head = b"POST /v1/chat/completions HTTP/1.1\r\nContent-Length: %d\r\n\r\n" % len(body)
    with ScriptedModel(busy) as model:
        address = ("127.0.0.1", int(model.api_base.rsplit(":", 1)[1].removesuffix("/v1")))
        first = socket.create_connection(address, timeout=300)
        first.sendall(head + body)
        assert answering.wait(300)
        late = socket.create_connection(address, timeout=300)
    first.close()
    late.close()
    gc.collect()  # a socket that nobody closed is a warning, and so an error


def test_an_address_exists_only_while_it_is_served() -> None:
    model = ScriptedModel("42")
    with pytest.raises(RuntimeError, match="only inside its 'with' block"):
        _ = model.api_base
    with model, pytest.raises(RuntimeError, match="running already"):
        model.__enter__()


def test_a_port_may_be_chosen_and_must_be_free() -> None:
    with ScriptedModel("42") as model:
        port = int(model.api_base.rsplit(":", 1)[1].removesuffix("/v1"))
        with pytest.raises(OSError, match="in use"):
            ScriptedModel("42", port=port).__enter__()
    with ScriptedModel("42", port=port) as model:
        assert model.api_base == f"http://127.0.0.1:{port}/v1"
