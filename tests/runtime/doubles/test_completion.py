import json
import math
from typing import Any

import pytest

from coterie.runtime.doubles import Reply
from coterie.runtime.doubles.completion import chat_chunks, chat_completion, embeddings

REQUEST: dict[str, Any] = {"model": "m", "messages": [{"role": "user", "content": "12345678"}]}


def chunks(request: dict[str, Any], *replies: Reply) -> list[dict[str, Any]]:
    *events, done, rest = chat_chunks(request, replies).decode().split("\n\n")
    assert (done, rest) == ("data: [DONE]", "")
    return [json.loads(event.removeprefix("data: ")) for event in events]


def vectors(**request: Any) -> list[list[float]]:
    return [item["embedding"] for item in json.loads(embeddings(request))["data"]]


def closeness(values: list[float], other: list[float]) -> float:
    return sum(a * b for a, b in zip(values, other, strict=True))


def test_usage_counts_four_characters_as_one_token() -> None:
    document = json.loads(chat_completion(REQUEST, [Reply(text="12345"), Reply.tool("f")]))

    assert document["usage"] == {"prompt_tokens": 2, "completion_tokens": 3, "total_tokens": 5}


def test_usage_is_what_the_reply_declares() -> None:
    declared = {"prompt_tokens": "many"}

    assert json.loads(chat_completion(REQUEST, [Reply(usage=declared)]))["usage"] == declared
    assert "usage" not in json.loads(chat_completion(REQUEST, [Reply(usage="missing")]))


def test_equal_requests_get_equal_bytes_and_others_another_identity() -> None:
    reply = Reply.tool("look")
    longer = {**REQUEST, "messages": [*REQUEST["messages"], {"role": "tool", "content": ""}]}

    def call_id(request: dict[str, Any]) -> str:
        choice = json.loads(chat_completion(request, [reply]))["choices"][0]
        return choice["message"]["tool_calls"][0]["id"]

    assert chat_completion(REQUEST, [reply]) == chat_completion(REQUEST, [reply])
    assert call_id(REQUEST) != call_id(longer)


def test_a_stream_carries_the_same_text() -> None:
    text = "A sentence that is longer than one chunk, \n\n with gaps."
    events = chunks(REQUEST, Reply(text=text))
    deltas = [event["choices"][0]["delta"] for event in events]

    assert deltas[0] == {"role": "assistant", "content": ""}
    assert "".join(delta.get("content", "") for delta in deltas) == text
    assert events[-1]["choices"][0]["finish_reason"] == "stop"


def test_a_stream_carries_tool_calls_and_usage_when_asked() -> None:
    events = chunks({**REQUEST, "stream_options": {"include_usage": True}}, Reply.tool("f", a=1))
    call = events[1]["choices"][0]["delta"]["tool_calls"][0]

    assert call["function"] == {"name": "f", "arguments": '{"a": 1}'}
    assert events[-1]["choices"] == []
    assert events[-1]["usage"]["prompt_tokens"] == 2


def test_half_a_surrogate_pair_is_no_obstacle() -> None:
    request = {"messages": [{"role": "user", "content": "\ud83d"}]}

    assert json.loads(chat_completion(request, [Reply(text="\ud83d")]))


def test_embeddings_are_unit_vectors_that_share_words() -> None:
    cat, same, near, far = vectors(
        input=["the cat sat", "the cat sat", "the cat ran", "unrelated numbers here"]
    )

    assert cat == same
    assert math.isclose(closeness(cat, cat), 1.0)
    assert closeness(cat, near) > closeness(cat, far)


@pytest.mark.parametrize("text", ["", "word " * 3])
def test_embeddings_have_the_size_that_was_asked_for(text: str) -> None:
    (vector,) = vectors(input=text, dimensions=5)

    assert len(vector) == 5
    assert math.isclose(math.hypot(*vector), 1.0)


def test_embeddings_take_text_only() -> None:
    with pytest.raises(ValueError, match="the input is text or a list of texts, not 7"):
        embeddings({"input": [7]})
