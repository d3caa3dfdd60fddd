"""Answers that come in pieces over HTTP: put together, bounded, and what failures may have cost."""

import asyncio
import json
from types import SimpleNamespace
from typing import Any

import pytest

from coterie.runtime.doubles import Reply, ScriptedModel
from coterie.runtime.gateway import CallError, ChatAnswer, ChatRequest, Endpoint
from coterie.runtime.gateway.http import http_client, streamed
from coterie.runtime.gateway.http.http_client import HttpClient
from coterie.runtime.gateway.http.streamed import StreamedAnswer
from coterie.runtime.gateway.stream_sink import StreamSink
from coterie.runtime.gateway.wires.chat import ChatWire

from ....waiting import PATIENCE

REQUEST = ChatRequest(model="default", messages=[{"role": "user", "content": "漢"}])
HALF = ({"choices": [{"index": 0, "delta": {"content": "Fo"}}]},)
FOUR = {"choices": [{"delta": {"content": "Four"}}]}
END = {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}


async def ask(client: HttpClient, model: ScriptedModel, sink: StreamSink) -> ChatAnswer:
    endpoint = Endpoint(kind="openai", model="m", api_base=model.api_base, key="sk-0123456789")
    return await client.chat(endpoint, ChatWire().body(endpoint, REQUEST, set()), sink)


def asked(*replies: Any) -> tuple[list[ChatAnswer], list[str], int]:
    """Ask once for each reply; give the answers, the words as they came, and the connections."""
    words: list[str] = []

    async def scene() -> list[ChatAnswer]:
        client = HttpClient()
        try:
            return [await ask(client, model, StreamSink(on_words=words.append)) for _ in replies]
        finally:
            await client.close()

    with ScriptedModel(replies) as model:
        opened: set[Any] = set()
        assert model._running is not None
        service = model._running._service
        service_opened = service.opened

        def noted(connection: Any) -> None:
            opened.add(connection)
            service_opened(connection)

        service.opened = noted
        return asyncio.run(scene()), words, len(opened)


def failure(reply: Reply) -> CallError:
    with pytest.raises(CallError) as caught:
        asked(reply)
    return caught.value


def test_an_answer_comes_in_pieces_and_its_connection_is_used_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # However slow the machine, the end of a response and the next call come soon enough.
    monkeypatch.setattr(streamed, "SECONDS_TO_END", PATIENCE)
    monkeypatch.setattr(http_client, "IDLE_SECONDS", PATIENCE)
    text = "Zwei und zwei macht vier, 漢字 \U0001f600, " * 4
    answers, words, connections = asked(
        Reply(text=text), Reply(text=text, delivery="dripped", interval=0)
    )
    assert [answer.text for answer in answers] == [text] * 2
    assert "".join(words) == text * 2
    assert len(words) > 9
    assert connections == 1


def test_who_waits_is_told_what_goes_on_and_what_is_a_sign_of_life() -> None:
    words = json.dumps(HALF[0])
    pieces = [
        f"data: {words[:9]}",
        f"{words[9:]}\n\n",
        ": wait\n\n",
        f"data: {json.dumps(END)}\n\n",
    ]
    chunks, signs = iter([*(piece.encode() for piece in pieces), b""]), list[bool]()

    async def read(_most: int) -> bytes:
        return next(chunks)

    response: Any = SimpleNamespace(headers={}, content=SimpleNamespace(read=read))
    sink = StreamSink(on_bytes=signs.append)
    answer = StreamedAnswer(source="h", wire=ChatWire(), secrets=frozenset(), sink=sink)
    assert b'"Fo"' in asyncio.run(answer.read(response))
    assert signs == [False, True, False, True]


def test_tool_calls_and_usage_come_too() -> None:
    (item,), words, _ = asked(Reply.tool("look", at="漢"))
    assert [(call.name, json.loads(call.arguments)) for call in item.tool_calls] == [
        ("look", {"at": "漢"})
    ]
    assert item.tool_calls[0].id
    assert (item.usage.prompt_tokens, item.usage.unmetered_calls, words) == (1, 0, [])


@pytest.mark.parametrize(
    "reply",
    [
        Reply(text="Four", delivery="paced", interval=0),
        Reply(body='{"choices": [{"message": {"content": "Four"}}]}'),
        Reply(body='\n{"choices": [{"message": {"content": "Four"}}]}').replace(
            headers={"content-type": "text/event-stream"}
        ),
        Reply(events=(*HALF, {"choices": [{"delta": {"content": "ur"}, "finish_reason": "stop"}]})),
        Reply(events=(FOUR, "", END, "", "[DONE]", "nobody reads this")),
    ],
    ids=[
        "event by event",
        "a document",
        "a document called a stream",
        "no last word",
        "junk",
    ],
)
def test_many_forms_are_an_answer(reply: Reply) -> None:
    assert asked(reply)[0][0].text == "Four"


@pytest.mark.parametrize(
    ("reply", "kind", "billed"),
    [
        (Reply(events=HALF), "malformed", True),
        (Reply(events=(*HALF, "{oops")), "malformed", True),
        (Reply(text="x" * 99, delivery="truncated"), "down", True),
        (Reply(events=(*HALF, {"error": {"message": "gone", "code": 502}})), "down", True),
        (Reply(events=({"error": {"message": "gone"}},)), "down", False),
        (Reply(events=({"error": "gone"},)), "down", False),
        (Reply(events=({"error": {"message": "wait", "code": 429}},)), "busy", False),
        (Reply(events=(*HALF, {"error": {"message": "wait", "code": 429}})), "busy", True),
        (
            Reply(
                events=({"type": "error", "error": {"type": "overloaded_error", "message": "x"}},)
            ),
            "down",
            False,
        ),
        (
            Reply(events=({"type": "error", "code": "rate_limit_exceeded", "message": "x"},)),
            "busy",
            False,
        ),
        (
            Reply(events=({"type": "response.failed", "response": {"error": {"message": "x"}}},)),
            "down",
            False,
        ),
        (Reply(events=("x" * (9 << 20),)), "malformed", True),
        (Reply(body="x" * (9 << 20)), "malformed", True),
    ],
)
def test_what_a_broken_off_answer_may_have_cost(reply: Reply, kind: str, billed: bool) -> None:
    error = failure(reply)
    assert (error.kind, error.may_be_billed) == (kind, billed)


def test_an_answer_that_is_whole_survives_its_connection() -> None:
    pair = (*HALF, END)
    events = "".join(f"data: {json.dumps(fields)}\n\n" for fields in pair)
    reply = Reply(body=events + " " * (len(events) + 2), delivery="truncated")
    assert asked(reply)[0][0].text == "Fo"


def test_the_key_does_not_come_back() -> None:
    echo = {"choices": [{"delta": {"content": "It is sk-0123456789"}}]}
    rest = [{"choices": [{"delta": {"content": word}}]} for word in (", sk-01234", "56789!")]
    answers, words, _ = asked(Reply(events=(echo, *rest, END)))
    assert answers[0].text == "It is [secret], [secret]!"
    assert words[0] == "It is [secret]"
