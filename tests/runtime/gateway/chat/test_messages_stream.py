"""Chunks of a completion come to what the completion would have been."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coterie.runtime.doubles import Reply, ScriptedCall
from coterie.runtime.doubles.completion import chat_chunks, chat_completion
from coterie.runtime.gateway.chat.answer import answer_of
from coterie.runtime.gateway.wires.chat_stream import ChatAssembly

REQUEST: dict[str, Any] = {
    "model": "m",
    "messages": [{"role": "user", "content": "x"}],
    "stream_options": {"include_usage": True},
}


def assembled(*events: Any) -> dict[str, Any]:
    assembly = ChatAssembly()
    for event in events:
        assembly.add(event)
    return json.loads(json.dumps(assembly.body()))


def delta(finish_reason: str | None = None, **fields: Any) -> dict[str, Any]:
    choice = {"index": 0, "delta": fields, "finish_reason": finish_reason}
    return {"object": "chat.completion.chunk", "model": "m", "choices": [choice]}


def message(*events: Any) -> dict[str, Any]:
    return assembled(*events)["choices"][0]["message"]


def calls(*pieces: Any) -> list[tuple[str | None, str, Any]]:
    """Assemble tool calls from pieces, each in a chunk of its own: id, name and arguments."""
    result = message(*(delta(tool_calls=[item]) for item in pieces)).get("tool_calls", [])
    return [
        (item.get("id"), item["function"]["name"], item["function"]["arguments"]) for item in result
    ]


def piece(arguments: Any = None, *, name: str | None = None, **fields: Any) -> dict[str, Any]:
    function = {"name": name, "arguments": arguments}
    return {**fields, "function": {key: item for key, item in function.items() if item is not None}}


REPLIES = st.builds(
    Reply,
    text=st.none() | st.text(max_size=60),
    tool_calls=st.lists(
        st.builds(ScriptedCall, name=st.sampled_from(["look", "say"]), arguments=st.text()),
        max_size=3,
    ).map(tuple),
    finish_reason=st.sampled_from(["stop", "length", "tool_calls"]),
)


@given(reply=REPLIES)
def test_a_stream_comes_to_the_same_answer(reply: Reply) -> None:
    events = chat_chunks(REQUEST, [reply]).decode().split("\n\n")[:-2]
    streamed = assembled(*(json.loads(event.removeprefix("data: ")) for event in events))
    whole = json.loads(chat_completion(REQUEST, [reply]))
    assert answer_of(streamed, "s") == answer_of(whole, "s")
    assert streamed["usage"] == whole["usage"]


def test_halves_of_a_character_become_one() -> None:
    assert message(delta(content="\ud83d"), delta(content="\ude00"))["content"] == "\U0001f600"


@pytest.mark.parametrize(
    ("pieces", "expected"),
    [
        (
            [
                piece("", index=0, id="a", name="f"),
                piece('{"x":', index=0),
                piece("", index=1, id="b", name="g"),
                piece(" 1}", index=0),
                piece("{}", index=1),
            ],
            [("a", "f", '{"x": 1}'), ("b", "g", "{}")],
        ),
        (
            [piece("{}", index=0, id="a", name="f"), piece("{}", index=0, id="b", name="f")],
            [("a", "f", "{}"), ("b", "f", "{}")],
        ),
        (
            [piece('{"x": 1}', index=0, name="f"), piece('{"x": 2}', index=0, name="f")],
            [(None, "f", '{"x": 1}'), (None, "f", '{"x": 2}')],
        ),
        (
            [piece("{", index=0, id="a", name="f"), piece("}", index=0, id="a", name="f")],
            [("a", "f", "{}")],
        ),
        ([piece("{", index=0, id="a", name="f"), piece("}", index=0, id="b")], [("b", "f", "{}")]),
        ([piece("{", id="a", name="f"), piece("}", id="a")], [("a", "f", "{}")]),
        ([piece("{}", name="f"), piece("{}", name="g")], [(None, "f", "{}"), (None, "g", "{}")]),
        ([piece("{", name="f"), piece("}")], [(None, "f", "{}")]),
        ([piece({"x": 1}, id="a", name="f")], [("a", "f", {"x": 1})]),
    ],
    ids=[
        "by their index",
        "whole ones, all of index 0",
        "whole ones, without ids, all of index 0",
        "id and name with every piece",
        "another id with every piece",
        "without an index",
        "whole ones, with nothing to tell them apart",
        "pieces with nothing to tell them apart",
        "arguments that are no text",
    ],
)
def test_tool_calls_are_told_apart(pieces: Any, expected: Any) -> None:
    assert calls(*pieces) == expected


def test_calls_of_one_chunk_are_as_many() -> None:
    both = [piece("{}", index=0, id="a", name="f"), piece("{}", index=1, id="b", name="g")]
    assert len(message(delta(tool_calls=both))["tool_calls"]) == 2


def test_thinking_is_put_together_beside_the_text() -> None:
    fields = message(
        delta(role="assistant", content=None, reasoning_content="Two "),
        delta(role="assistant", reasoning_content="and two."),
        delta(role="assistant", content="Fo"),
        delta(role="assistant", content="ur"),
    )
    assert fields == {"role": "assistant", "reasoning_content": "Two and two.", "content": "Four"}


def test_signed_thinking_stays_in_its_parts() -> None:
    def part(**fields: Any) -> Any:
        return delta(reasoning_details=[fields])

    record = message(
        part(type="reasoning.text", text="Two ", index=0),
        part(type="reasoning.text", text="and two", index=0),
        part(type="reasoning.text", signature="sig", index=0),
        part(type="reasoning.encrypted", data="xyz", index=1),
    )
    first = {"type": "reasoning.text", "text": "Two and two", "index": 0, "signature": "sig"}
    second = {"type": "reasoning.encrypted", "data": "xyz", "index": 1}
    assert record["reasoning_details"] == [first, second]


def test_an_answer_in_parts_may_go_on_in_text() -> None:
    thinking = [{"type": "thinking", "thinking": [{"type": "text", "text": "Two "}]}]
    more = [{"type": "thinking", "thinking": [{"type": "text", "text": "and two"}]}]
    fields = message(
        delta(content=thinking), delta(content=more), delta(content="Fo"), delta(content="ur")
    )
    whole = [{"type": "thinking", "thinking": [{"type": "text", "text": "Two and two"}]}]
    assert fields["content"] == [*whole, {"type": "text", "text": "Four"}]


@pytest.mark.parametrize(
    "last",
    [
        {"choices": [], "usage": {"prompt_tokens": 7}},
        {"choices": None, "x_groq": {"usage": {"prompt_tokens": 7}}},
        {**delta("stop"), "usage": {"prompt_tokens": 7}},
    ],
)
def test_usage_is_that_of_the_last_chunk_that_tells_it(last: Any) -> None:
    first = {**delta(content="x"), "usage": {"prompt_tokens": 3}}
    assert assembled(first, last, {"choices": [], "usage": None})["usage"] == {"prompt_tokens": 7}


def test_the_end_is_known_by_its_reason() -> None:
    assembly = ChatAssembly()
    assert [assembly.add(delta(content="x")), assembly.is_whole] == ["x", False]
    assert [assembly.add(delta("stop")), assembly.is_whole] == ["", True]
    assert [assembly.add({"choices": [], "usage": {}}), assembly.is_whole] == ["", True]


def test_content_that_is_no_text_gives_way_to_parts_of_one() -> None:
    assert message(delta(content=1e999), delta(content=[{"type": "text", "text": "four"}])) == {
        "content": [{"type": "text", "text": "four"}]
    }


@pytest.mark.parametrize("index", [[0], {"a": 0}, "0", 0.5])
def test_a_call_whose_index_is_no_number_has_none(index: Any) -> None:
    fields = piece("{}", name="look", id="c", index=index)
    assert calls(fields) == [("c", "look", "{}")]


FIELDS = [
    *("choices", "delta", "content", "tool_calls", "function", "arguments", "index", "id", "name"),
    *("usage", "type", "text", "reasoning_details", "finish_reason"),
]
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(FIELDS),
            inner,
            max_size=5,
        )
    ),
    max_leaves=12,
)


@given(events=st.lists(st.dictionaries(st.sampled_from(["choices", "usage", "x_groq"]), JSON)))
def test_whatever_comes_is_no_error(events: list[Any]) -> None:
    assembly = ChatAssembly()
    for event in events:
        assembly.add(event)
    json.dumps(assembly.body())
