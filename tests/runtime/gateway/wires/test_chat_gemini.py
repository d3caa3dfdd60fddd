"""Gemini by its OpenAI-compatible address: signatures of thinking come and go with the calls.

Documented at ai.google.dev/gemini-api/docs/thought-signatures; the values are made up.
"""

from typing import Any

from coterie.runtime.gateway import ChatRequest, Endpoint
from coterie.runtime.gateway.chat.given_back import marked, meant_for, spoken
from coterie.runtime.gateway.wires import WIRES

from .said import WEATHER, assistant, result, user

WIRE = WIRES["chat"]
SIGNED = {"google": {"thought_signature": "CiQB0e2Kb"}}
CALL = {
    "extra_content": SIGNED,
    "function": {"arguments": '{"location":"Paris"}', "name": "get_weather"},
    "id": "function-call-1",
    "type": "function",
}
RESPONSE = {
    "choices": [
        {"finish_reason": "tool_calls", "index": 0, "message": {"tool_calls": [CALL, CALL]}}
    ],
    "model": "gemini-3-pro-preview",
    "usage": {"completion_tokens": 18, "prompt_tokens": 61, "total_tokens": 181},
}
SKIPPED = {"google": {"thought_signature": "skip_thought_signature_validator"}}


def calls(model: str, *messages: Any) -> list[Any]:
    """Return the calls of the last message of the assistant, as they are sent."""
    endpoint = Endpoint(kind="openai", model=model, api_base="http://h/v1beta/openai")
    sent = meant_for(messages, model)
    request = ChatRequest(model="default", messages=sent, tools=[WEATHER])
    body = WIRE.body(endpoint, request, frozenset())
    return [message for message in body.fields["messages"] if message["role"] == "assistant"][-1][
        "tool_calls"
    ]


def test_a_signature_goes_back_with_its_call() -> None:
    answer = marked(WIRE.answer(RESPONSE, "h"), "gemini-3-pro-preview")
    message = spoken(answer, ["a", "b"])
    sent = calls("gemini-3-pro-preview", user("hi"), message, result("a"), result("b"))
    assert [call["extra_content"] for call in sent] == [SIGNED, SIGNED]


def test_thinking_that_is_only_in_the_total_is_counted() -> None:
    assert WIRE.answer(RESPONSE, "h").usage.completion_tokens == 181 - 61


def test_calls_of_another_model_are_said_to_be_so() -> None:
    loop = [user("hi"), assistant("", "a", "b"), result("a"), result("b")]
    first, second = calls("gemini-3-pro-preview", *loop)
    assert first["extra_content"] == SKIPPED
    assert "extra_content" not in second
    for model in ("gemini-2.5-pro", "gpt-4o"):
        assert all("extra_content" not in call for call in calls(model, *loop))
