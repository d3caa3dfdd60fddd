"""Anthropic's Messages API: what is written, what is read, and what it never is sent.

The fields are those of its Python client (anthropic 2.12.0);
the pages below document them, and the values are made up:

* platform.claude.com/docs/en/api/messages
* platform.claude.com/docs/en/agents-and-tools/tool-use/handle-tool-calls
* platform.claude.com/docs/en/build-with-claude/extended-thinking
* platform.claude.com/docs/en/build-with-claude/structured-outputs
* platform.claude.com/docs/en/build-with-claude/prompt-caching
* platform.claude.com/docs/en/api/errors
"""

import asyncio
import json
from dataclasses import replace
from functools import partial
from typing import Any

import pytest

from coterie.runtime.gateway import CallError, ChatAnswer, ChatRequest, Endpoint, Gateway
from coterie.runtime.gateway.prices import rates_of
from coterie.runtime.gateway.wires import WIRES
from coterie.schema import Model

from ....served import Served, serving
from .said import WEATHER, assistant, given_back, result, user, written_for

WIRE = WIRES["anthropic"]
ENDPOINT = Endpoint(
    kind="openai", wire="anthropic", model="claude-sonnet-4-5", api_base="http://h/v1"
)
CALLED = {
    "id": "msg_01Aq9w938a90dw8q",
    "type": "message",
    "model": "claude-sonnet-4-5",
    "stop_reason": "tool_use",
    "role": "assistant",
    "content": [
        {"type": "text", "text": "I'll check the current weather in San Francisco for you."},
        {
            "type": "tool_use",
            "id": "toolu_01A09q90qw90lq917835lq9",
            "name": "get_weather",
            "input": {"location": "San Francisco, CA", "unit": "celsius"},
        },
    ],
    "usage": {"input_tokens": 472, "output_tokens": 91},
}
SAID = {
    "id": "msg_013Zva2CMHLNnjNjJJKqJ2EF",
    "type": "message",
    "role": "assistant",
    "model": "claude-sonnet-4-5",
    "content": [{"type": "text", "text": "Hi, I'm Claude."}],
    "stop_reason": "end_turn",
    "stop_sequence": None,
    "usage": {
        "input_tokens": 21,
        "cache_creation_input_tokens": 188086,
        "cache_read_input_tokens": 1000,
        "output_tokens": 393,
    },
}


written = partial(written_for, ENDPOINT)


def unmarked(value: Any) -> Any:
    """Copy a body without the marks of the cache."""
    if isinstance(value, dict):
        return {key: unmarked(item) for key, item in value.items() if key != "cache_control"}
    return [unmarked(item) for item in value] if isinstance(value, list) else value


def read(body: Any) -> ChatAnswer:
    return WIRE.answer(body, "http://h/v1/messages")


def test_a_text_is_read_and_counted_with_what_the_cache_took_and_gave() -> None:
    answer = read(SAID)
    assert (answer.text, answer.finish_reason) == ("Hi, I'm Claude.", "stop")
    assert answer.model == "claude-sonnet-4-5"
    usage = answer.usage
    assert usage.prompt_tokens == 21 + 188086 + 1000
    assert (usage.cached_tokens, usage.stored_tokens) == (1000, 188086)
    assert (usage.completion_tokens, usage.unmetered_calls) == (393, 0)


def test_what_was_thought_is_counted_among_what_was_written() -> None:
    table = {**SAID["usage"], "output_tokens_details": {"thinking_tokens": 300}}  # pyright: ignore[reportGeneralTypeIssues]
    usage = read({**SAID, "usage": table}).usage
    assert (usage.completion_tokens, usage.reasoning_tokens) == (393, 300)


def test_what_the_cache_saves_is_in_the_price() -> None:
    rates = rates_of(Model(alias="default", model="anthropic/claude-sonnet-4-5"))
    assert rates is not None
    fields = {"input_tokens": 100, "output_tokens": 10}
    whole = {**fields, "input_tokens": 10_100}
    kept = {**fields, "cache_creation_input_tokens": 10_000}
    again = {**fields, "cache_read_input_tokens": 10_000}
    usd = [rates.usd(read({**SAID, "usage": record}).usage) for record in (whole, kept, again)]
    fresh = 10_000 * rates.read
    assert usd[1] - usd[0] == pytest.approx(0.25 * fresh)
    assert usd[0] - usd[2] == pytest.approx(0.9 * fresh)


@pytest.mark.parametrize("report", [{}, None, [], {"input_tokens": "21", "output_tokens": 1}])
def test_a_usage_that_cannot_be_is_not_believed(report: Any) -> None:
    assert read({**SAID, "usage": report}).usage.unmetered_calls == 1


def test_a_tool_that_is_called_is_read() -> None:
    answer = read(CALLED)
    assert answer.finish_reason == "tool_calls"
    (call,) = answer.tool_calls
    assert (call.id, call.name) == ("toolu_01A09q90qw90lq917835lq9", "get_weather")
    assert json.loads(call.arguments) == {"location": "San Francisco, CA", "unit": "celsius"}


@pytest.mark.parametrize(
    ("reason", "finish"),
    [
        ("end_turn", "stop"),
        ("stop_sequence", "stop"),
        ("max_tokens", "length"),
        ("model_context_window_exceeded", "length"),
        ("refusal", "content_filter"),
        ("pause_turn", "pause_turn"),
        (None, "stop"),
    ],
)
def test_why_it_stopped_is_said_as_elsewhere(reason: str | None, finish: str) -> None:
    assert read({**SAID, "stop_reason": reason}).finish_reason == finish


def test_a_refusal_says_why() -> None:
    details = {"type": "refusal", "category": "cyber", "explanation": "This could harm."}
    refusal = {**SAID, "content": [], "stop_reason": "refusal", "stop_details": details}
    answer = read(refusal)
    assert (answer.text, answer.finish_reason) == ("This could harm.", "content_filter")


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"content": None},
        {"content": "text"},
        {"content": [3]},
        {"content": [{}]},
        {"content": [{"type": "text"}]},
        {"content": [{"type": "tool_use", "id": "a"}]},
        {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}},
    ],
)
def test_a_response_without_content_is_malformed_and_may_have_been_billed(body: Any) -> None:
    with pytest.raises(CallError, match="no content in the Messages API's format") as caught:
        read(body)
    assert (caught.value.kind, caught.value.may_be_billed) == ("malformed", True)


def test_a_request_has_the_form_of_the_api() -> None:
    body = written(
        {"role": "system", "content": "You are brief."},
        user("What's the weather in San Francisco?"),
        max_tokens=1024,
        temperature=0.5,
        seed=7,
        stop=("</code>", "\n"),
        tools=[WEATHER],
        tool_choice="required",
    )
    function = WEATHER["function"]
    assert isinstance(function, dict)
    assert unmarked(body) == {
        "model": "claude-sonnet-4-5",
        "max_tokens": 1024,
        "system": [{"type": "text", "text": "You are brief."}],
        "messages": [
            {
                "role": "user",
                "content": [{"type": "text", "text": "What's the weather in San Francisco?"}],
            }
        ],
        "temperature": 0.5,
        "stop_sequences": ["</code>"],
        "tools": [
            {
                "name": "get_weather",
                "description": function["description"],
                "input_schema": function["parameters"],
            }
        ],
        "tool_choice": {"type": "any"},
        "stream": True,
    }


@pytest.mark.parametrize(
    ("choice", "expected"),
    [
        ("auto", {"type": "auto"}),
        ("none", {"type": "none"}),
        ({"type": "function", "function": {"name": "f"}}, {"type": "tool", "name": "f"}),
        (None, None),
    ],
)
def test_a_choice_of_tools_is_said_in_its_words(choice: Any, expected: Any) -> None:
    assert written(user("hi"), tools=[WEATHER], tool_choice=choice).get("tool_choice") == expected


def test_what_is_refused_is_left_out() -> None:
    refused = {
        *("temperature=1.0", "top_p=0.5", "stop=stop_sequences", "tool_choice=required"),
        *("tool_choice=auto", "cache_control=ephemeral", "reasoning_effort=high"),
        *("reasoning_effort=2048 tokens", "stream=in pieces"),
    }
    body = written(
        user("hi"),
        refused=frozenset(refused),
        temperature=1.0,
        top_p=0.5,
        effort="high",
        stop=("a",),
        tools=[WEATHER],
        tool_choice="required",
    )
    assert sorted(body) == ["max_tokens", "messages", "model", "tools"]
    assert "cache_control" not in json.dumps(body)


@pytest.mark.parametrize(
    ("refused", "expected"),
    [
        (
            "",
            {
                "thinking": {"type": "adaptive", "display": "summarized"},
                "output_config": {"effort": "medium"},
            },
        ),
        ("reasoning_effort=medium", {"thinking": {"type": "enabled", "budget_tokens": 5000}}),
    ],
)
def test_an_effort_is_said_as_the_model_takes_it(refused: str, expected: Any) -> None:
    body = written(user("hi"), refused=frozenset({refused}), effort="medium", max_tokens=10_000)
    assert {key: item for key, item in body.items() if key in {"thinking", "output_config"}} == (
        expected
    )


def test_not_to_think_is_said() -> None:
    assert written(user("hi"), effort="none")["thinking"] == {"type": "disabled"}
    assert "thinking" not in written(user("hi"))


def test_a_budget_of_tokens_is_said_and_else_the_model_thinks_as_it_likes() -> None:
    endpoint = replace(ENDPOINT, thinking=2000)
    request = ChatRequest(model="default", messages=[user("hi")])
    body = WIRE.body(endpoint, request, frozenset())
    assert body.fields["thinking"] == {"type": "enabled", "budget_tokens": 2000}
    newest = WIRE.body(endpoint, request, frozenset({"thinking=2000 tokens"}))
    assert newest.fields["thinking"] == {"type": "adaptive", "display": "summarized"}


def test_a_loop_that_another_model_began_goes_on_without_counting_thoughts() -> None:
    endpoint = replace(ENDPOINT, thinking=2000)
    loop = [user("hi"), assistant("", "toolu_1"), result("toolu_1")]
    request = ChatRequest(model="default", messages=loop, tools=[WEATHER])
    assert "thinking" not in WIRE.body(endpoint, request, frozenset()).fields


def test_several_results_come_in_one_turn_ahead_of_what_the_user_says() -> None:
    body = written(
        user("Weather in Paris and London?"),
        assistant("", "toolu_1", "toolu_2"),
        user("Be quick."),
        result("toolu_2", "rain"),
        result("toolu_1", "sun"),
    )
    called, given_back = unmarked(body)["messages"][1:]
    assert [block["id"] for block in called["content"]] == ["toolu_1", "toolu_2"]
    assert given_back["content"] == [
        {
            "type": "tool_result",
            "tool_use_id": "toolu_1",
            "content": [{"type": "text", "text": "sun"}],
        },
        {
            "type": "tool_result",
            "tool_use_id": "toolu_2",
            "content": [{"type": "text", "text": "rain"}],
        },
        {"type": "text", "text": "Be quick."},
    ]


def test_a_picture_goes_along() -> None:
    url = {"url": "data:image/png;base64,iVBORw0KGgo="}
    body = written({"role": "user", "content": [{"type": "image_url", "image_url": url}]})
    source = {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="}
    assert unmarked(body)["messages"][0]["content"] == [{"type": "image", "source": source}]


def asked(
    request: ChatRequest, *answers: tuple[int, Any], tokens: int | None = None
) -> tuple[Served, Any]:
    """Ask through the gateway; give what was served, and the answer or why there is none."""

    async def scene() -> tuple[Served, Any]:
        async with serving(*answers) as served:
            environment = {"ANTHROPIC_API_BASE": served.address, "ANTHROPIC_API_KEY": "sk-ant-1234"}
            model = Model(
                alias="default", model="anthropic/claude-sonnet-4-5", thinking_tokens=tokens
            )
            async with Gateway({"default": model}, environment=environment) as gateway:
                try:
                    return served, await gateway.chat(request)
                except CallError as error:
                    return served, error

    return asyncio.run(scene())


HELLO = ChatRequest(model="default", messages=[user("Hello, Claude")], retries=0)


def test_a_call_goes_to_the_api_itself_with_its_headers() -> None:
    served, answer = asked(HELLO, (200, SAID))
    assert served.paths == ["/v1/messages"]
    assert served.headers[0]["x-api-key"] == "sk-ant-1234"
    assert served.headers[0]["anthropic-version"] == "2023-06-01"
    assert "authorization" not in served.headers[0]
    assert answer.text == "Hi, I'm Claude."
    assert answer.usage.usd > 0


@pytest.mark.parametrize(
    ("status", "kind_of_error", "message", "kind"),
    [
        (401, "authentication_error", "invalid x-api-key", "denied"),
        (404, "not_found_error", "model: claude-9", "unknown"),
        (429, "rate_limit_error", "This request would exceed your rate limit", "busy"),
        (529, "overloaded_error", "Overloaded", "down"),
        (400, "invalid_request_error", "messages: at least one message is required", "rejected"),
        (
            400,
            "invalid_request_error",
            "prompt is too long: 208310 tokens > 200000 maximum",
            "overflow",
        ),
        (
            400,
            "invalid_request_error",
            "input length and `max_tokens` exceed context limit: 178959 + 64000 > 200000",
            "overflow",
        ),
    ],
)
def test_an_error_is_told_in_its_words(
    status: int, kind_of_error: str, message: str, kind: str
) -> None:
    body = {"type": "error", "error": {"type": kind_of_error, "message": message}}
    _, error = asked(HELLO, (status, body))
    assert error.kind == kind
    assert f"HTTP {status}: {message} {kind_of_error}" in str(error)
    assert error.usage.calls == 0


THOUGHT = {
    "type": "thinking",
    "thinking": "The user wants the weather in Paris.",
    "signature": "EqQBCgIYAhIM1gbcDa9GJwZA2b3hGgxBdjrkzLoky3dl1pk",
}
REDACTED = {"type": "redacted_thinking", "data": "EmwKAhgBEgy3va3pzix/LafPsn4aDFIT2Xlxh0L5L8rLVyI"}
USE = CALLED["content"][1]  # pyright: ignore[reportArgumentType, reportIndexIssue]


@pytest.mark.parametrize(
    "content",
    [
        [THOUGHT, USE],
        [THOUGHT, REDACTED, USE],
        [THOUGHT, {"type": "text", "text": "I'll check."}, USE],
        [{"type": "text", "text": "Hm."}, THOUGHT, USE],
        [THOUGHT, {"type": "text", "text": "Hm."}, THOUGHT, USE, REDACTED],
    ],
)
def test_signed_thinking_is_given_back_as_it_came(content: list[Any]) -> None:
    answer = read({**CALLED, "content": content})
    assert "The user wants the weather in Paris." in answer.thinking
    assert "The user" not in answer.text
    call = answer.tool_calls[0]
    body = written(user("hi"), given_back(answer), result(call.id), tools=[WEATHER])
    turn = unmarked(body)["messages"][1]["content"]
    kinds = ("thinking", "redacted_thinking", "text", "tool_use")
    assert [item["type"] for item in turn] == [
        item["type"] for item in content if item["type"] in kinds
    ]
    assert [item for item in turn if "thinking" in item["type"]] == [
        item for item in content if "thinking" in item["type"]
    ]


def test_thinking_alone_is_no_answer() -> None:
    answer = read({**SAID, "content": [THOUGHT], "stop_reason": "max_tokens"})
    assert (answer.text, answer.finish_reason, answer.kept) == ("", "length", {})
    assert answer.thinking == THOUGHT["thinking"]


# Each as it was said, with where it was found.
REFUSALS = [
    # https://github.com/anthropics/claude-code/issues/30010
    (
        {"effort": "high"},
        "This model does not support the effort parameter.",
        {"thinking": {"type": "enabled", "budget_tokens": 2048}},
        {"reasoning_effort": "2048 tokens"},
    ),
    # https://github.com/Sylinko/Everywhere/issues/410
    (
        {"thinking_tokens": 2000},
        '"thinking.type.enabled" is not supported for this model. Use "thinking.type.adaptive" and'
        ' "output_config.effort" to control thinking behavior.',
        {"thinking": {"type": "adaptive", "display": "summarized"}},
        {"thinking": "adaptive"},
    ),
    # https://github.com/Yeachan-Heo/gajae-code/pull/480
    (
        {"tools": [WEATHER], "tool_choice": "required"},
        "tool_choice forces tool use is not compatible with this model",
        {"tool_choice": {"type": "auto"}},
        {"tool_choice": "auto"},
    ),
    # The same where the tool is ours.
    (
        {"schema": {"type": "object"}},
        "tool_choice forces tool use is not compatible with this model",
        {"tool_choice": None},
        {"tool_choice": "left out"},
    ),
    # https://github.com/writingmate/chatlabs/issues/273
    (
        {"tools": [WEATHER]},
        "'claude-3-sonnet-20240229' does not support cache_control.",
        {"system": None},
        {"cache_control": "left out"},
    ),
    # https://github.com/UKGovernmentBEIS/inspect_ai/issues/3721
    (
        {"temperature": 0.5},
        "`temperature` is deprecated for this model.",
        {"temperature": None},
        {"temperature": "left out"},
    ),
]


@pytest.mark.parametrize(("wanted", "message", "then", "fields"), REFUSALS)
def test_what_a_model_refuses_is_said_otherwise_from_then_on(
    wanted: dict[str, Any], message: str, then: dict[str, Any], fields: dict[str, str]
) -> None:
    asks = {key: item for key, item in wanted.items() if key != "thinking_tokens"}
    request = replace(HELLO, **asks)
    error = {"type": "error", "error": {"type": "invalid_request_error", "message": message}}
    served, answer = asked(request, (400, error), (200, SAID), tokens=wanted.get("thinking_tokens"))
    assert len(served.bodies) == 2
    assert {key: served.bodies[1].get(key) for key in then} == then
    assert answer.adapted == fields
    left_out = [name for name, instead in fields.items() if instead == "left out"]
    assert not [name for name in left_out if f'"{name}"' in json.dumps(served.bodies[1])]
