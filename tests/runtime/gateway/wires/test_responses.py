"""OpenAI's Responses API: what is written, what is read, and what is given back in a tool loop.

The fields are those of its Python client (openai 2.54.0);
the pages below document them, and the values are made up:

* developers.openai.com/api/reference/resources/responses
* developers.openai.com/api/docs/guides/function-calling
* developers.openai.com/api/docs/guides/reasoning
* developers.openai.com/api/docs/guides/structured-outputs
"""

import json
from functools import partial
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coterie.runtime.gateway import CallError, ChatAnswer, Endpoint
from coterie.runtime.gateway.wires import WIRES

from .said import ANSWER, MESSAGES, WEATHER, assistant, given_back, result, user, written_for

WIRE = WIRES["responses"]
ENDPOINT = Endpoint(kind="openai", wire="responses", model="gpt-5-pro", api_base="http://h/v1")
MESSAGE = {
    "type": "message",
    "id": "msg_67ccd2bf17f0819081ff3bb2cf6508e60bb6a6b452d3795b",
    "status": "completed",
    "role": "assistant",
    "content": [
        {
            "type": "output_text",
            "text": "In a peaceful grove beneath a silver moon, a unicorn named Lumina sang.",
            "annotations": [],
        }
    ],
}
CALL = {
    "type": "function_call",
    "id": "fc_67ca09c6bedc8190a7abfec07b1a1332096610f474011cc0",
    "call_id": "call_unLAR8MvFNptuiZK6K6HCy5k",
    "name": "get_weather",
    "arguments": '{"location":"Boston, MA","unit":"celsius"}',
    "status": "completed",
}
REASONING = {
    "type": "reasoning",
    "id": "rs_6820f383d7c08191846711c5df8233bc0ac5ba57aafcbac7",
    "summary": [{"type": "summary_text", "text": "The user asks for the weather."}],
    "encrypted_content": "gAAAAABoIPOa",
    "content": None,
}
USAGE = {
    "input_tokens": 328,
    "input_tokens_details": {"cached_tokens": 256, "cache_write_tokens": 64},
    "output_tokens": 1052,
    "output_tokens_details": {"reasoning_tokens": 1024},
    "total_tokens": 1380,
}


def response(*output: Any, **fields: Any) -> dict[str, Any]:
    return {
        "id": "resp_67ccd2bed1ec8190b14f964abc0542670bb6a6b452d3795b",
        "object": "response",
        "status": "completed",
        "error": None,
        "incomplete_details": None,
        "model": "gpt-5-pro-2025-10-06",
        "output": list(output),
        "usage": USAGE,
        **fields,
    }


def read(body: Any) -> ChatAnswer:
    return WIRE.answer(body, "http://h/v1/responses")


written = partial(written_for, ENDPOINT)


def test_a_text_is_read() -> None:
    answer = read(response(MESSAGE))
    assert answer.text == MESSAGE["content"][0]["text"]  # pyright: ignore[reportArgumentType, reportIndexIssue]
    assert (answer.finish_reason, answer.model) == ("stop", "gpt-5-pro-2025-10-06")


def test_usage_is_read_with_what_came_from_the_cache() -> None:
    usage = read(response(MESSAGE)).usage
    assert (usage.prompt_tokens, usage.cached_tokens, usage.completion_tokens) == (328, 256, 1052)
    assert (usage.stored_tokens, usage.reasoning_tokens) == (64, 1024)
    assert usage.unmetered_calls == 0
    assert read(response(MESSAGE, usage=None)).usage.unmetered_calls == 1


def test_a_tool_that_is_called_is_read() -> None:
    answer = read(response(REASONING, CALL))
    (call,) = answer.tool_calls
    assert (call.id, call.name) == ("call_unLAR8MvFNptuiZK6K6HCy5k", "get_weather")
    assert json.loads(call.arguments) == {"location": "Boston, MA", "unit": "celsius"}
    assert (answer.finish_reason, answer.text) == ("tool_calls", "")
    assert answer.thinking == "The user asks for the weather."


@pytest.mark.parametrize(
    ("reason", "finish"), [("max_output_tokens", "length"), ("content_filter", "content_filter")]
)
def test_an_answer_that_was_cut_says_so(reason: str, finish: str) -> None:
    cut = response(MESSAGE, status="incomplete", incomplete_details={"reason": reason})
    assert read(cut).finish_reason == finish


def test_a_refusal_is_read() -> None:
    fields = {"type": "refusal", "refusal": "I'm sorry, I can't assist with that."}
    answer = read(response({**MESSAGE, "content": [fields]}))
    assert (answer.text, answer.finish_reason) == (fields["refusal"], "content_filter")


def test_what_is_said_on_the_way_is_no_part_of_the_answer() -> None:
    on_the_way = [{"type": "output_text", "text": "I'll look.", "annotations": []}]
    commentary = {**MESSAGE, "content": on_the_way, "phase": "commentary"}
    final = {**MESSAGE, "phase": "final_answer"}
    answer = read(response(commentary, final))
    assert answer.text.startswith("In a peaceful grove")
    assert answer.thinking == "I'll look."
    assert read(response(commentary, CALL)).text == "I'll look."


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"output": None},
        {"output": [3]},
        {"output": [{}]},
        {"output": [{"type": "message"}]},
        {"output": [{"type": "message", "content": [{"type": "output_text"}]}]},
        {"output": [{"type": "function_call", "call_id": "a"}]},
    ],
)
def test_a_response_without_output_is_malformed_and_may_have_been_billed(body: Any) -> None:
    with pytest.raises(CallError, match="no output in the Responses API's format") as caught:
        read(body)
    assert (caught.value.kind, caught.value.may_be_billed) == ("malformed", True)


def test_a_request_has_the_form_of_the_api() -> None:
    body = written(
        {"role": "system", "content": "You are brief."},
        user("What's the weather in Boston?"),
        max_tokens=1024,
        temperature=0.5,
        seed=7,
        stop=("</code>",),
        tools=[WEATHER],
        tool_choice="required",
        schema=ANSWER,
    )
    function = WEATHER["function"]
    assert isinstance(function, dict)
    assert body == {
        "model": "gpt-5-pro",
        "instructions": "You are brief.",
        "input": [{"role": "user", "content": "What's the weather in Boston?"}],
        "max_output_tokens": 1024,
        "temperature": 0.5,
        "tools": [{"type": "function", "strict": False, **function}],
        "tool_choice": "required",
        "text": {
            "format": {"type": "json_schema", "name": "answer", "schema": ANSWER, "strict": False}
        },
        "include": ["reasoning.encrypted_content"],
        "store": False,
        "stream": True,
    }


def test_a_choice_of_a_tool_is_flat() -> None:
    choice = {"type": "function", "function": {"name": "get_weather"}}
    body = written(user("hi"), tools=[WEATHER], tool_choice=choice)
    assert body["tool_choice"] == {"type": "function", "name": "get_weather"}


def test_a_picture_goes_along() -> None:
    url = "data:image/png;base64,iVBORw0KGgo="
    parts = [
        {"type": "text", "text": "What is this?"},
        {"type": "image_url", "image_url": {"url": url, "detail": "low"}},
    ]
    assert written({"role": "user", "content": parts})["input"][0]["content"] == [
        {"type": "input_text", "text": "What is this?"},
        {"type": "input_image", "image_url": url, "detail": "low"},
    ]


def test_a_loop_of_tools_gives_back_what_was_thought() -> None:
    answer = read(response(REASONING, CALL))
    call = answer.tool_calls[0].id
    body = written(user("Weather?"), given_back(answer), result(call), tools=[WEATHER])
    assert body["input"] == [
        {"role": "user", "content": "Weather?"},
        {key: item for key, item in REASONING.items() if item is not None},
        CALL,
        {"type": "function_call_output", "call_id": call, "output": "15 degrees"},
    ]


def test_what_cannot_be_read_by_the_provider_is_not_given_back() -> None:
    answer = read(response({**REASONING, "encrypted_content": None}, CALL))
    call = answer.tool_calls[0].id
    items = written(user("Weather?"), given_back(answer), result(call))["input"]
    assert [item.get("type", item.get("role")) for item in items] == [
        "user",
        "function_call",
        "function_call_output",
    ]
    assert "id" not in items[1]


def test_calls_of_another_conversation_are_written_anew() -> None:
    answer = read(response(REASONING, CALL))
    changed = {**given_back(answer), "tool_calls": assistant("", "call_other")["tool_calls"]}
    items = written(user("Weather?"), changed, result("call_other"))["input"]
    assert [item["call_id"] for item in items if "call_id" in item] == ["call_other"] * 2
    assert "reasoning" not in json.dumps(items)


@given(st.lists(MESSAGES, max_size=12))
def test_every_call_has_one_result_after_it_and_no_word_is_lost(messages: list[Any]) -> None:
    body = written(*messages)
    waiting: list[str] = []
    seen: set[str] = set()
    for item in body["input"]:
        if item.get("type") == "function_call":
            assert item["call_id"] not in seen
            seen.add(item["call_id"])
            waiting.append(item["call_id"])
        elif item.get("type") == "function_call_output":
            assert item["call_id"] == waiting.pop(0)
        elif item["role"] != "assistant":
            assert not waiting
    assert not waiting
    for message in messages:
        assert json.dumps(message["content"] or "")[1:-1] in json.dumps(body)
