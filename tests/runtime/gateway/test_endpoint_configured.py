"""What models.yaml says of a model's requests, in the requests."""

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest

from coterie.runtime.doubles import Reply, ScriptedModel
from coterie.runtime.gateway import CallError, ChatRequest, Endpoint, Gateway
from coterie.runtime.gateway.wires.chat import ChatWire
from coterie.schema import InputError, Model

SECRET = "token-0123456789"
MESSAGES = [{"role": "user", "content": "Hi."}]


def gateway(model: ScriptedModel, **fields: Any) -> Gateway:
    spec = Model(alias="default", model="m", api_base=model.api_base, **fields)
    return Gateway({"default": spec}, environment={"TOKEN": SECRET}, seed=1)


def ask(model: ScriptedModel, request: Mapping[str, Any] | None = None, **fields: Any) -> None:
    async def call() -> None:
        async with gateway(model, **fields) as asked:
            wanted = ChatRequest(model="default", messages=MESSAGES, **(request or {}), retries=0)
            await asked.chat(wanted)

    asyncio.run(call())


def test_all_of_it_is_sent() -> None:
    with ScriptedModel("x") as model:
        ask(
            model,
            effort="low",
            top_p=0.9,
            body={"user": "me"},
            headers={"X-Title": "me"},
            header_env={"X-Token": "TOKEN"},
        )
        [call] = model.calls
    assert (call.body["reasoning_effort"], call.body["top_p"]) == ("low", 0.9)
    assert call.body["user"] == "me"
    assert (call.headers["x-title"], call.headers["x-token"]) == ("me", SECRET)


def test_what_an_agent_says_counts_first() -> None:
    with ScriptedModel("x") as model:
        ask(model, {"effort": "none", "top_p": 0.1}, thinking_tokens=512, top_p=0.9)
        [call] = model.calls
    assert call.body is not None
    assert (call.body["reasoning_effort"], call.body["top_p"]) == ("none", 0.1)
    assert "thinking" not in call.body


def test_what_is_not_set_is_not_sent() -> None:
    with ScriptedModel("x") as model:
        ask(model)
        texts = {*(model.calls[0].body or ())}
    assert texts == {"model", "messages", "max_tokens", "stream", "stream_options"}


def test_a_secret_header_is_kept_out_of_messages_and_has_to_be_set() -> None:
    with ScriptedModel(Reply.error(400, message=f"bad {SECRET}")) as model:
        with pytest.raises(CallError) as caught:
            ask(model, header_env={"X-Token": "TOKEN"})
        assert SECRET not in str(caught.value) + caught.value.words
        asked = gateway(model, header_env={"X-Token": "TOKEN"})
        asked.check(["default"])
        assert asked.secrets() == {SECRET}
        with pytest.raises(InputError, match="variable OTHER is not set"):
            ask(model, header_env={"X-Token": "OTHER"})


@pytest.mark.parametrize("fields", [{"api": "responses"}, {"api_base": None, "model": "local"}])
def test_thinking_tokens_are_refused_where_nobody_would_count_them(fields: Any) -> None:
    record: dict[str, Any] = {"model": "m", "api_base": "http://h/v1", **fields}
    thinking = Model(alias="default", thinking_tokens=512, **record)
    asked = Gateway({"default": thinking}, environment={}, seed=1)
    with pytest.raises(InputError, match="does not support thinking_tokens"):
        asked.check(["default"])


def test_a_version_is_asked_for_in_the_address() -> None:
    with ScriptedModel("x") as model:
        asked = gateway(model, api_version="2024-10-21")
        asked.check(["default"])
        endpoint = asked._client_of("default").endpoint
    assert endpoint.shown.endswith("/chat/completions?api-version=2024-10-21")
    assert endpoint.key_header == "api-key"


@pytest.mark.parametrize(
    ("address", "effort", "tokens"),
    [
        (
            "https://api.openai.com/v1",
            {"reasoning_effort": "high"},
            {"thinking": {"type": "enabled", "budget_tokens": 512}},
        ),
        (
            "https://openrouter.ai/api/v1",
            {"reasoning": {"effort": "high"}},
            {"reasoning": {"max_tokens": 512}},
        ),
        (
            "https://generativelanguage.googleapis.com/v1beta/openai",
            {"reasoning_effort": "high"},
            {"extra_body": {"google": {"thinking_config": {"thinking_budget": 512}}}},
        ),
        (
            "https://dashscope-intl.aliyuncs.com/compatible-mode/v1",
            {"reasoning_effort": "high"},
            {"enable_thinking": True, "thinking_budget": 512},
        ),
    ],
)
def test_each_provider_is_told_in_its_own_form(
    address: str, effort: dict[str, Any], tokens: dict[str, Any]
) -> None:
    def added(endpoint: Endpoint, **request: Any) -> dict[str, Any]:
        asked = ChatRequest(model="m", messages=MESSAGES, **request)
        plain = ChatWire().body(place, ChatRequest(model="m", messages=MESSAGES), frozenset())
        fields = ChatWire().body(endpoint, asked, frozenset()).fields
        return {name: item for name, item in fields.items() if name not in plain.fields}

    place = Endpoint(kind="openai", model="m", api_base=address)
    assert added(place, effort="high") == effort
    budget = Endpoint(kind="openai", model="m", api_base=address, thinking=512)
    assert added(budget) == tokens
    assert added(budget, effort="high") == effort
