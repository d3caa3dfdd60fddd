"""From what an endpoint sends to an answer: nothing crashes us, no count is believed blindly."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coterie.runtime.gateway import CallError, ChatAnswer
from coterie.runtime.gateway.chat.answer import answer_of, parsed
from coterie.runtime.gateway.metering import metered
from coterie.runtime.gateway.prices import TokenPrices
from coterie.runtime.values.usage import Usage

SOURCE = "http://host/v1"


def response(message: Any, usage: Any = None, **choice: Any) -> dict[str, Any]:
    return {"choices": [{"message": message, **choice}], "usage": usage, "model": "m"}


def usage_of(usage: Any, text: str = "four") -> Usage:
    return answer_of(response({"content": text}, usage), SOURCE).usage


@given(
    st.sampled_from(
        [b'{"a": "\xc3\xa9", "b": [1e999, NaN]}', b'{"a": "\\ud800"}', b'{"a": 1, "a": 2}']
    )
    | st.binary(max_size=20).map(lambda end: b'{"a": "' + end + b'"}'),
    st.sampled_from(["utf-8", "utf-8-sig", "utf-16-le", "utf-16", "utf-32-be", None]),
    st.sampled_from([b"", b" ", b"\n\r\n", b"\x0b", b"\xc2\xa0", b"}", b"{}", b"\x00"]),
)
def test_an_answer_is_read_as_json_is(text: bytes, coding: str | None, after: bytes) -> None:
    content = (text if coding is None else text.decode("utf-8", "replace").encode(coding)) + after
    try:
        wanted = json.loads(content)
    except ValueError:
        with pytest.raises(CallError, match="not JSON"):
            parsed(SOURCE, content)
    else:
        assert repr(parsed(SOURCE, content)) == repr(wanted)


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"choices": []},
        {"choices": None},
        {"choices": "no"},
        {"choices": [None]},
        {"choices": [{"message": None}]},
        {"choices": [{"message": "text"}]},
        {"choices": {"0": {}}},
        response({"tool_calls": [{}]}),
        response({"tool_calls": [{"function": {"arguments": "{}"}}]}),
        response({"tool_calls": 3}),
        response({"tool_calls": ["f"]}),
        response({"content": [3]}),
    ],
)
def test_a_response_without_a_message_is_malformed_and_may_have_been_billed(body: Any) -> None:
    with pytest.raises(CallError, match=r"no choices\[0\]\.message") as caught:
        answer_of(body, SOURCE)
    assert (caught.value.kind, caught.value.may_be_billed) == ("malformed", True)


@pytest.mark.parametrize(
    "content",
    [b"", b"<!doctype html>", b'{"choices": [', b"[1]", b"\xff\xfe", b"[" * 100_000, b"1" * 9999],
)
def test_what_is_no_json_object_is_malformed(content: bytes) -> None:
    with pytest.raises(CallError, match="the answer is not") as caught:
        parsed(SOURCE, content)
    assert caught.value.kind == "malformed"
    assert len(str(caught.value)) < 400


@pytest.mark.parametrize(
    ("message", "text"),
    [
        ({"content": "four"}, "four"),
        ({"content": None}, ""),
        ({}, ""),
        ({"content": [{"type": "text", "text": "fo"}, {"text": "ur"}, {"type": "x"}]}, "four"),
        ({"content": None, "refusal": "I will not."}, "I will not."),
        ({"content": 4}, "4"),
        ({"content": "\ud83d!"}, "\ufffd!"),
        ({"content": "\U0001f600"}, "\U0001f600"),
    ],
)
def test_text_in_all_its_forms(message: Any, text: str) -> None:
    answer = answer_of(response(message), SOURCE)
    assert answer.text == text
    assert answer.text.encode() == text.encode()


def test_arguments_of_tools_are_passed_on_as_text_whatever_they_are() -> None:
    written = ['{"a": ', None, {"a": 1}, "\ud83d"]
    calls = [{"id": 7, "function": {"name": "f", "arguments": item}} for item in written]
    answer = answer_of(response({"tool_calls": calls}, finish_reason="tool_calls"), SOURCE)
    assert [call.arguments for call in answer.tool_calls] == ['{"a": ', "", '{"a": 1}', "\ufffd"]
    assert {call.id for call in answer.tool_calls} == {"7"}


def test_thinking_is_no_part_of_the_answer_and_is_kept_where_tools_are_called() -> None:
    message: dict[str, Any] = {"content": "four", "reasoning_content": "hm"}
    answer = answer_of(response(message), SOURCE)
    assert (answer.text, answer.thinking, answer.kept) == ("four", "hm", {})
    signed = {"google": {"thought_signature": "s"}}
    call = {"id": "1", "function": {"name": "f", "arguments": "{}"}, "extra_content": signed}
    answer = answer_of(response({**message, "tool_calls": [call]}), SOURCE)
    assert answer.kept == {"reasoning_content": "hm"}
    assert answer.tool_calls[0].extra == {"extra_content": signed}


def test_an_answer_of_thinking_alone_was_written_all_the_same() -> None:
    fields = {"prompt_tokens": 9, "completion_tokens": 0}
    answer = answer_of(response({"content": f"<think>{'a' * 100}"}, fields), SOURCE)
    assert answer.usage.unmetered_calls == 1
    assert metered(answer, 7, None).completion_tokens == 50


def test_usage_that_can_be_is_believed() -> None:
    fields = {
        "prompt_tokens": 9,
        "completion_tokens": 3,
        "prompt_tokens_details": {"cached_tokens": 4},
    }
    assert usage_of(fields) == Usage(calls=1, prompt_tokens=9, cached_tokens=4, completion_tokens=3)
    assert usage_of({"prompt_tokens": 9, "completion_tokens": 0}, text="").unmetered_calls == 0
    assert not usage_of(
        {"prompt_tokens": 9, "completion_tokens": 1, "prompt_tokens_details": {}}
    ).unmetered_calls


ABSURD = [-5, True, "12", None, 1.5, 10**30, [], float("nan")]


@pytest.mark.parametrize(
    "usage",
    [
        None,
        "many",
        {},
        *({"prompt_tokens": count, "completion_tokens": 3} for count in [*ABSURD, 0]),
        *({"prompt_tokens": 9, "completion_tokens": count} for count in [*ABSURD, 0]),
        *(
            {
                "prompt_tokens": 9,
                "completion_tokens": 3,
                "prompt_tokens_details": {"cached_tokens": cached},
            }
            for cached in [10, -1, True, "4", 10**30]
        ),
    ],
)
def test_usage_that_cannot_be_is_estimated_marked_and_never_below_what_was_told(usage: Any) -> None:
    answer = answer_of(response({"content": "four"}, usage), SOURCE)
    assert answer.usage.unmetered_calls == 1
    counted = metered(answer, 7, TokenPrices(1e-6, 5e-7, 2e-6))
    report = answer.usage
    assert counted.prompt_tokens == max(7, report.prompt_tokens)
    assert counted.completion_tokens == max(2, report.completion_tokens)
    assert counted.cached_tokens == 0
    assert counted.tokens < 100
    assert counted.usd == pytest.approx(
        counted.prompt_tokens * 1e-6 + counted.completion_tokens * 2e-6
    )


def test_prices_bound_a_call_also_where_the_cache_costs_more() -> None:
    rates = TokenPrices(1.0, 3.0, 2.0)
    kept = Usage(prompt_tokens=10, cached_tokens=10, completion_tokens=5)
    fresh = Usage(prompt_tokens=10, completion_tokens=5)
    assert rates.highest(10, 5) == 40.0 >= rates.usd(kept) > rates.usd(fresh)


FIELDS = [
    "content",
    "tool_calls",
    "function",
    "name",
    "arguments",
    "prompt_tokens",
    "completion_tokens",
    "text",
    "refusal",
]


def judged(content: bytes) -> ChatAnswer | None:
    """Return the answer in a response; None where it is malformed, and nothing else may happen."""
    try:
        return answer_of(parsed(SOURCE, content), SOURCE)
    except CallError as error:
        if error.kind != "malformed":
            raise
        return None


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(FIELDS),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@given(message=JSON, usage=JSON, reason=JSON)
def test_any_message_is_an_answer_or_malformed(message: Any, usage: Any, reason: Any) -> None:
    body = json.dumps(response(message, usage, finish_reason=reason)).encode()
    answer = judged(body)
    if answer is not None:
        assert answer.text.encode() is not None
        assert answer.finish_reason.encode() is not None
        assert 0 <= answer.usage.tokens <= 2 * 10**8


@given(st.binary(max_size=200) | JSON.map(lambda value: json.dumps(value).encode()))
def test_whatever_the_bytes_they_are_an_answer_or_malformed(content: bytes) -> None:
    judged(content)
