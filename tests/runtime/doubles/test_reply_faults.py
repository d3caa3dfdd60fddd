"""Each fault as a client meets it."""

from __future__ import annotations

import http.client
import json
import socket
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import pytest

from coterie.runtime.doubles import FAULTS, Fault, Reply, ScriptedModel

if TYPE_CHECKING:
    from collections.abc import Callable

    Ask = Callable[..., tuple[http.client.HTTPResponse, bytes]]


def answer(ask: Ask, fault: Fault) -> dict[str, Any]:
    with ScriptedModel(Reply.fault(fault)) as model:
        response, content = ask(model)
    assert response.status == 200
    return json.loads(content)


def seconds_of(model: ScriptedModel) -> float:
    """Return how long the only call was answered, in seconds by the double's own clock."""
    (call,) = model.calls
    assert call.finished is not None
    return call.finished - call.started


def test_hang_never_answers(ask: Ask) -> None:
    with ScriptedModel(Reply.fault("hang")) as model, pytest.raises(TimeoutError):
        ask(model, timeout=0.1)


def test_drip_outlives_a_timeout_between_bytes(ask: Ask) -> None:
    with ScriptedModel(Reply.fault("drip").replace(interval=0.001)) as model:
        _, content = ask(model, timeout=60)

    assert json.loads(content)["choices"]
    assert seconds_of(model) > 0.001 * len(content)


def test_slow_headers_come_before_the_body(ask: Ask) -> None:
    with ScriptedModel(Reply.fault("slow_headers").replace(interval=0.001)) as model:
        response, content = ask(model, timeout=60)

    assert json.loads(content)["choices"]
    assert seconds_of(model) > 0.001 * len(response.headers.as_bytes())


def test_close_before_headers_answers_nothing(ask: Ask) -> None:
    with (
        ScriptedModel(Reply.fault("close_before_headers")) as model,
        pytest.raises(http.client.RemoteDisconnected),
    ):
        ask(model)


@pytest.mark.parametrize(
    ("fault", "share"), [("close_after_headers", 0.0), ("truncated_body", 0.5)]
)
def test_a_stopped_body_keeps_less_than_it_promised(ask: Ask, fault: Fault, share: float) -> None:
    with (
        ScriptedModel(Reply.fault(fault)) as model,
        pytest.raises(http.client.IncompleteRead) as caught,
    ):
        ask(model)

    received, missing = len(caught.value.partial), caught.value.expected or 0
    assert received == int((received + missing) * share)


def test_half_json_has_an_honest_length(ask: Ask) -> None:
    with ScriptedModel(Reply.fault("half_json")) as model:
        response, content = ask(model)

    assert int(response.headers["content-length"]) == len(content)
    with pytest.raises(json.JSONDecodeError):
        json.loads(content)


def test_endless_body_goes_on_for_as_long_as_one_reads() -> None:
    with ScriptedModel(Reply.fault("endless_body")) as model:
        address = urlsplit(model.api_base)
        body = b'{"messages": []}'
        head = b"POST /v1/chat/completions HTTP/1.1\r\nContent-Length: %d\r\n\r\n" % len(body)
        with socket.create_connection(("127.0.0.1", address.port or 0), timeout=300) as client:
            client.sendall(head + body)
            # More than any socket buffer holds, so the server has to wait for its reader.
            received = 0
            while received < 1 << 25:
                received += len(client.recv(1 << 20))

    assert model.calls[0].abandoned


def test_large_body_is_a_sound_answer_of_ten_megabytes(ask: Ask) -> None:
    with ScriptedModel(Reply.fault("large_body")) as model:
        _, content = ask(model)

    assert len(content) > 10_000_000
    assert json.loads(content)["choices"]


def test_empty_body_is_a_success_without_content(ask: Ask) -> None:
    with ScriptedModel(Reply.fault("empty_body")) as model:
        response, content = ask(model)

    assert (response.status, content) == (200, b"")


def test_html_body_is_a_page_as_proxies_send(ask: Ask) -> None:
    with ScriptedModel(Reply.fault("html_body")) as model:
        response, content = ask(model)

    assert response.headers["content-type"].startswith("text/html")
    assert content.startswith(b"<!doctype html>")


def test_no_choices(ask: Ask) -> None:
    assert answer(ask, "no_choices")["choices"] == []


def test_null_content(ask: Ask) -> None:
    assert answer(ask, "null_content")["choices"][0]["message"]["content"] is None


def test_length(ask: Ask) -> None:
    assert answer(ask, "length")["choices"][0]["finish_reason"] == "length"


def test_content_filter(ask: Ask) -> None:
    choice = answer(ask, "content_filter")["choices"][0]
    assert (choice["finish_reason"], choice["message"]["content"]) == ("content_filter", None)


def test_bad_tool_json(ask: Ask) -> None:
    (call,) = answer(ask, "bad_tool_json")["choices"][0]["message"]["tool_calls"]
    with pytest.raises(json.JSONDecodeError):
        json.loads(call["function"]["arguments"])


def test_unknown_tool(ask: Ask) -> None:
    (call,) = answer(ask, "unknown_tool")["choices"][0]["message"]["tool_calls"]
    assert call["function"]["name"] == "no_such_tool"


def test_usage_is_missing_negative_or_wrong(ask: Ask) -> None:
    assert "usage" not in answer(ask, "no_usage")
    assert answer(ask, "negative_usage")["usage"]["prompt_tokens"] < 0
    wrong = answer(ask, "wrong_usage")["usage"]
    assert wrong["prompt_tokens"] + wrong["completion_tokens"] != wrong["total_tokens"]


def test_usage_is_absurd(ask: Ask) -> None:
    assert answer(ask, "huge_usage")["usage"]["prompt_tokens"] == 10**30
    assert answer(ask, "text_usage")["usage"] == {"prompt_tokens": "12", "completion_tokens": True}
    cached = answer(ask, "cached_usage")["usage"]
    assert cached["prompt_tokens_details"]["cached_tokens"] > cached["prompt_tokens"]


@pytest.mark.parametrize("text", [2, 0.5, -2, 10**9, "soon"])
def test_retry_after_is_sent_as_it_is(ask: Ask, text: float | str) -> None:
    with ScriptedModel(Reply.error(429, retry_after=text)) as model:
        response, _ = ask(model)

    assert (response.status, response.headers["retry-after"]) == (429, str(text))


def test_context_overflow(ask: Ask) -> None:
    with ScriptedModel(Reply.fault("context_overflow")) as model:
        response, content = ask(model)

    assert response.status == 400
    assert json.loads(content)["error"]["code"] == "context_length_exceeded"


def test_a_drip_of_nothing_ends(ask: Ask) -> None:
    empty = Reply.fault("drip").replace(body="", interval=0.001)
    with ScriptedModel(empty) as model:
        assert ask(model)[1] == b""


def test_every_fault_has_its_test_here() -> None:
    with open(__file__, encoding="utf-8") as source:  # noqa: PTH123 - one line
        text = source.read()
    assert [name for name in FAULTS if f'"{name}"' not in text] == []
