"""What spans say of events and models, and what they do not."""

from typing import Any

import pytest

from coterie.runtime.otel.attributes import (
    call_content,
    call_result,
    clean,
    event_attributes,
    provider_of,
)
from coterie.schema.host.models import Model


def test_names_and_numbers_are_told_and_what_was_said_is_content() -> None:
    fields = {
        "wait": 0.5,
        "allowed": True,
        "tool": "shell",
        "of": ["a", "b"],
        "agents": {"a": "Be brief."},
        "text": "Dear all,",
    }
    names = {"coterie.wait": 0.5, "coterie.allowed": True, "coterie.tool": "shell"}
    assert event_attributes(fields, content=False) == {**names, "coterie.of": ["a", "b"]}
    assert event_attributes(fields, content=True).keys() == {f"coterie.{name}" for name in fields}


def test_attributes_are_flat_without_secrets_and_without_what_has_no_value() -> None:
    given = {"a": None, "b": ["x secret"], "c": {"d": "secret"}, "e": [1, 2], "f": 0}
    result = clean(given, lambda text: text.replace("secret", "*"))
    assert result == {"b": ["x *"], "c": '{"d": "*"}', "e": "[1, 2]", "f": 0}


@pytest.mark.parametrize(
    ("model", "api_base", "api", "named"),
    [
        ("openai/gpt-x", None, None, ("openai", "gpt-x")),
        ("gpt-x", None, None, ("openai", "gpt-x")),
        ("azure/mine", None, None, ("azure.ai.openai", "mine")),
        ("bedrock/eu.some/model", None, None, ("aws.bedrock", "eu.some/model")),
        ("groq/fast", None, None, ("groq", "fast")),
        ("org/served", "http://here:1/v1", None, ("openai", "org/served")),
        ("claude", "http://here:1/v1", "anthropic", ("anthropic", "claude")),
        ("local", None, None, ("coterie.local", "local")),
        ("local:/models/a.gguf", None, None, ("coterie.local", "local:/models/a.gguf")),
    ],
)
def test_providers_are_named_as_the_conventions_name_them(
    model: str, api_base: str | None, api: Any, named: tuple[str, str]
) -> None:
    assert provider_of(Model(alias="a", model=model, api_base=api_base, api=api)) == named


@pytest.mark.parametrize("source", ["journal", "cache"])
def test_tokens_of_recorded_answers_stand_under_another_name(source: str) -> None:
    usage = {"prompt_tokens": 5, "completion_tokens": 2, "cached_tokens": 3, "usd": 0.1}
    live = call_result({"usage": usage})
    assert live["gen_ai.usage.input_tokens"] == 5
    assert live["gen_ai.usage.cache_read.input_tokens"] == 3
    assert live["coterie.usd"] == pytest.approx(0.1)
    recorded = call_result({"usage": usage, "source": source})
    assert recorded["coterie.recorded.input_tokens"] == 5
    assert recorded["coterie.source"] == source
    assert recorded["coterie.usd"] is None
    assert not any(name.startswith("gen_ai.usage") for name in recorded)


def test_messages_have_the_form_of_the_conventions() -> None:
    function = {"name": "clock", "arguments": "{}"}
    messages = [
        {"role": "user", "content": [{"type": "text", "text": "When?"}, {"type": "image_url"}]},
        {"role": "assistant", "content": None, "tool_calls": [{"id": "1", "function": function}]},
        {"role": "tool", "tool_call_id": "1", "content": "Noon."},
    ]
    fields = {"messages": messages, "text": "At noon.", "thinking": "Hm.", "finish_reason": "stop"}
    result = call_content(fields)
    called = {"type": "tool_call", "id": "1", "name": "clock", "arguments": "{}"}
    response = {"type": "tool_call_response", "response": "Noon.", "id": "1"}
    assert result["gen_ai.input.messages"] == [
        {"role": "user", "parts": [{"type": "text", "content": "When?"}, {"type": "image_url"}]},
        {"role": "assistant", "parts": [called]},
        {"role": "tool", "parts": [response]},
    ]
    thought = {"type": "reasoning", "content": "Hm."}
    spoken = {"type": "text", "content": "At noon."}
    answer = {"role": "assistant", "parts": [thought, spoken], "finish_reason": "stop"}
    assert result["gen_ai.output.messages"] == [answer]
