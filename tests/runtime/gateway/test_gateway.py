"""The gateway: what it sends, what it makes of answers and failures, what a call costs."""

import asyncio
import json
from collections.abc import Mapping
from typing import Any

import pytest

from coterie.runtime.doubles import Reply, ScriptedModel
from coterie.runtime.gateway import CallError, ChatAnswer, ChatRequest, Gateway
from coterie.schema import InputError, Model

from ...provider import Provider, gateway_to, in_turn, model, request
from ...virtual_time import virtual_clock, virtually

MESSAGES = [{"role": "user", "content": "What is two and two?"}]


def ask(model: ScriptedModel, *, times: int = 1, key: str | None = None, **fields: Any) -> Any:
    """Ask through a gateway with one model; give the answer, or the list of several."""
    request = {name: fields.pop(name) for name in REQUEST_FIELDS if name in fields}
    key_env = {"key_env": "TEST_KEY"} if key else {}
    spec = Model(alias="default", model="scripted", api_base=model.api_base, **key_env, **fields)

    async def calls() -> list[ChatAnswer]:
        environment = {"TEST_KEY": key} if key else {}
        async with Gateway({"default": spec}, environment=environment, seed=1) as gateway:
            wanted = ChatRequest(model="default", messages=MESSAGES, **request)
            return await asyncio.gather(*(gateway.chat(wanted) for _ in range(times)))

    answers = asyncio.run(calls())
    return answers[0] if times == 1 else answers


REQUEST_FIELDS = ("retries", "temperature", "seed", "stop", "tools", "tool_choice", "schema")


def test_a_call_sends_what_was_asked_and_nothing_else() -> None:
    with ScriptedModel("four") as model:
        answer = ask(model, temperature=0.5, stop=("\n",))
        body = model.calls[0].body
    assert answer.text == "four"
    assert body == {
        "model": "scripted",
        "messages": MESSAGES,
        "max_tokens": 4096,
        "temperature": 0.5,
        "stop": ["\n"],
        "stream": True,
        "stream_options": {"include_usage": True},
    }


def test_tool_calls_come_back_as_the_model_wrote_them() -> None:
    definition = {"type": "function", "function": {"name": "add", "parameters": {}}}
    with ScriptedModel(Reply.tool("add", a=1)) as model:
        answer = ask(model, tools=(definition,), tool_choice="required")
        assert model.calls[0].body["tool_choice"] == "required"
    assert [(call.name, call.arguments) for call in answer.tool_calls] == [("add", '{"a": 1}')]


def test_the_key_goes_to_its_endpoint_only() -> None:
    with ScriptedModel("x", key="sk-right") as model:
        assert ask(model, key="sk-right").text == "x"
        with pytest.raises(CallError, match="Is the key valid") as caught:
            ask(model, key="sk-wrong")
        assert caught.value.kind == "denied"
        assert len(model.calls) == 2


def test_without_a_key_no_authorization_is_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-not-for-this-host")
    with ScriptedModel("x") as model:
        ask(model)
        assert "authorization" not in model.calls[0].headers


@virtually
async def test_concurrency_of_a_model_is_bounded() -> None:
    provider = Provider(in_turn(*[1.0] * 6))
    async with gateway_to(provider, model(concurrency=2)) as gateway:
        await asyncio.gather(*(gateway.chat(request()) for _ in range(6)))
    assert (virtual_clock(), provider.peak) == (3, 2)


def test_usage_and_price_add_up() -> None:
    reply = Reply(
        text="x",
        usage={
            "prompt_tokens": 1000,
            "completion_tokens": 100,
            "prompt_tokens_details": {"cached_tokens": 400},
        },
    )
    prices: dict[str, Any] = {
        "usd_per_mtok_input": 2.0,
        "usd_per_mtok_output": 10.0,
        "usd_per_mtok_cached": 0.5,
    }
    with ScriptedModel(reply) as model:
        usage = ask(model, **prices).usage
    assert (usage.prompt_tokens, usage.cached_tokens, usage.completion_tokens) == (1000, 400, 100)
    assert usage.usd == pytest.approx((600 * 2 + 400 * 0.5 + 100 * 10) / 1e6)
    assert (usage + usage).usd == pytest.approx(2 * usage.usd)
    assert (usage + usage).cost == "$0.0048"


def test_what_is_not_known_of_usage_is_estimated_marked_and_never_zero() -> None:
    with ScriptedModel(Reply.fault("no_usage")) as model:
        usage = ask(model).usage
    assert (usage.unpriced_calls, usage.cost, usage.unmetered_calls) == (1, "unpriced", 1)
    assert 0 < usage.prompt_tokens < 100
    assert 0 < usage.completion_tokens < 100


def test_a_schema_constrains_the_endpoint_and_is_strict_only_where_it_may_be() -> None:
    closed = {
        "type": "object",
        "properties": {"a": {"type": "string"}},
        "required": ["a"],
        "additionalProperties": False,
    }
    opened = {"type": "object", "properties": {"a": {"anyOf": [closed, {"type": "object"}]}}}
    with ScriptedModel("{}") as model:
        ask(model, schema=closed)
        ask(model, schema=opened)
        strict = [call.body["response_format"]["json_schema"]["strict"] for call in model.calls]
    assert strict == [True, False]


def test_what_a_model_does_not_support_is_left_out_or_renamed() -> None:
    def strict(request: Mapping[str, Any]) -> Reply:
        for name in ("max_tokens", "stop"):
            if name in request:
                reply = Reply.error(400, message=f"Unsupported parameter: {name}")
                error = {"message": "", "param": name, "code": "unsupported_parameter"}
                return reply.replace(body=json.dumps({"error": error}))
        return Reply(text="fine")

    with ScriptedModel(strict) as model:
        answers = ask(model, times=1, stop=("x",)), ask(model, stop=("x",))
        body = model.calls[-1].body or {}
    assert [answer.text for answer in answers] == ["fine", "fine"]
    assert body["max_completion_tokens"] == 4096
    assert not {"max_tokens", "stop"} & set(body)


def test_retries_are_told_and_counted() -> None:
    texts: list[str] = []

    async def call(base: str) -> ChatAnswer:
        spec = Model(alias="default", model="m", api_base=base)
        async with Gateway({"default": spec}, seed=1) as gateway:
            return await gateway.chat(
                ChatRequest(model="default", messages=MESSAGES),
                lambda error, _wait: texts.append(error.kind),
            )

    with ScriptedModel([Reply.error(503), "fine"]) as model:
        answer = asyncio.run(call(model.api_base))
    assert (answer.text, answer.attempts, texts) == ("fine", 2, ["down"])


def test_unknown_aliases_and_missing_keys_are_found_before_any_call() -> None:
    models = {"big": Model(alias="big", model="openai/gpt", key_env="NO_SUCH_KEY")}

    async def check(alias: str) -> None:
        async with Gateway(models, environment={}) as gateway:
            gateway.check([alias])

    with pytest.raises(InputError, match="NO_SUCH_KEY is not set"):
        asyncio.run(check("big"))
    with pytest.raises(InputError, match=r"no model 'small'\. Known: big"):
        asyncio.run(check("small"))
