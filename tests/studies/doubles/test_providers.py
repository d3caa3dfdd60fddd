"""Every provider's double: what it refuses, what it tells, whole and as a stream, and its books."""

import json
from http.client import HTTPConnection
from typing import Any
from urllib.parse import urlsplit

import pytest

from coterie.runtime.doubles import ScriptedCall
from studies.doubles import KEY, PROVIDERS, Provider, ProviderDouble, Refusal, Said, Speech
from studies.doubles.responses_form import ResponsesForm

EACH = pytest.mark.parametrize("provider", PROVIDERS, ids=lambda item: item.name)
QUESTION = {"role": "user", "content": "What is six times seven?"}


def asked(
    double: ProviderDouble, provider: Provider, key: str = KEY, /, **fields: Any
) -> tuple[int, str]:
    """Send one request to the first path that speaks; leave out what is None."""
    path, speech = next(
        (path, speak) for path, speak in provider.speaks.items() if isinstance(speak, Speech)
    )
    asked = "input" if isinstance(speech.form, ResponsesForm) else "messages"
    body = {"model": provider.model, asked: [QUESTION]} | plain(provider) | fields
    header, form = provider.key_header
    address = urlsplit(double.origin)
    connection = HTTPConnection(address.hostname or "", address.port, timeout=10)
    try:
        text = json.dumps({name: value for name, value in body.items() if value is not None})
        connection.request("POST", path, text, {header: form.format(key=key)})
        response = connection.getresponse()
        return response.status, response.read().decode()
    finally:
        connection.close()


def plain(provider: Provider) -> dict[str, Any]:
    return {"max_tokens": 100} if provider.name == "Anthropic" else {}


@EACH
def test_it_answers_its_own_model_and_books_it(provider: Provider) -> None:
    with ProviderDouble(provider, [Said(text="42")]) as double:
        status, content = asked(double, provider)
    assert status == 200, content
    assert "42" in content
    (entry,) = double.books
    assert entry.said == Said(text="42")
    assert entry.bill.total > 0


@EACH
def test_what_it_refuses_is_booked_and_costs_nothing(provider: Provider) -> None:
    cases: list[tuple[Refusal | None, str, dict[str, Any]]] = [
        (provider.wrong_key, "sk-wrong", {}),
        (provider.unknown_model, KEY, {"model": "no-such-model"}),
        (provider.overflow, KEY, {"tools": ["w " * 9_000]}),
    ]
    for refusal, key, fields in cases:
        if refusal is not None:
            with ProviderDouble(provider, [Said(text="42")]) as double:
                status, _ = asked(double, provider, key, **fields)
            (entry,) = double.books
            assert status == refusal.status
            assert entry.refusal is not None
            assert not entry.bill.total


@EACH
def test_a_scripted_refusal_has_its_headers_and_the_script_goes_on(provider: Provider) -> None:
    busy = provider.busy or Refusal(status=503, message="Too much.")
    with ProviderDouble(provider, [busy, Said(text="42")]) as double:
        assert asked(double, provider)[0] == busy.status
        assert asked(double, provider)[0] == 200
        status, content = asked(double, provider)
    assert status == 500
    assert "no further answer" in content


@EACH
def test_a_stream_says_what_a_whole_answer_says(provider: Provider) -> None:
    calls = (ScriptedCall(name="look", arguments='{"where": "under the table", "twice": true}'),)
    said = Said(thinking="Once more, and slowly.", text="It is here, I think.", calls=calls)
    with ProviderDouble(provider, [said, said]) as double:
        _, whole = asked(double, provider)
        _, stream = asked(double, provider, stream=True)
    for text in ("is here, I", "under the", "look"):
        assert text in whole
    pieces = json.dumps([*_strings(stream)])
    assert all(word in pieces for word in ("look", "here", "where"))
    assert [entry.streamed for entry in double.books] == [False, True]


def _strings(stream: str) -> list[Any]:
    return [line for line in stream.splitlines() if line.startswith("data: ")]


@EACH
def test_it_is_documented(provider: Provider) -> None:
    assert provider.sources
    assert all(source.startswith("https://") for source in provider.sources)
    assert provider.as_of >= "2026-11"


def test_deepseek_wants_its_thinking_back() -> None:
    (deepseek,) = (provider for provider in PROVIDERS if provider.name == "DeepSeek")
    call = Said(thinking="Look it up.", calls=(ScriptedCall(name="look", arguments="{}"),))
    with ProviderDouble(deepseek, [call, Said(text="42")]) as double:
        message = json.loads(asked(double, deepseek)[1])["choices"][0]["message"]
        result = {
            "role": "tool",
            "tool_call_id": message["tool_calls"][0]["id"],
            "content": "here",
        }
        without = {key: value for key, value in message.items() if key != "reasoning_content"}
        status, content = asked(double, deepseek, messages=[QUESTION, without, result])
        assert (status, "must be passed back" in content) == (400, True)
        changed = message | {"reasoning_content": "Something else."}
        assert asked(double, deepseek, messages=[QUESTION, changed, result])[0] == 400
        assert asked(double, deepseek, messages=[QUESTION, message, result])[0] == 200


def test_anthropic_wants_signed_thinking_while_it_thinks() -> None:
    (anthropic,) = (provider for provider in PROVIDERS if provider.name == "Anthropic")
    call = Said(thinking="Look it up.", calls=(ScriptedCall(name="look", arguments="{}"),))
    thinks: dict[str, Any] = {"thinking": {"type": "adaptive"}}
    with ProviderDouble(anthropic, [call, Said(text="42")]) as double:
        blocks = json.loads(asked(double, anthropic, **thinks)[1])["content"]
        used = {"type": "tool_result", "tool_use_id": blocks[-1]["id"], "content": "here"}
        result = {"role": "user", "content": [used]}
        forged = [blocks[0] | {"thinking": "Something else."}, *blocks[1:]]
        for content in (blocks[1:], forged):
            message = {"role": "assistant", "content": content}
            assert (
                asked(double, anthropic, messages=[QUESTION, message, result], **thinks)[0] == 400
            )
        message = {"role": "assistant", "content": blocks}
        assert asked(double, anthropic, messages=[QUESTION, message], **thinks)[0] == 400
        assert asked(double, anthropic, messages=[QUESTION, message, result], **thinks)[0] == 200


def test_xai_counts_thinking_apart_and_tells_the_price() -> None:
    (xai,) = (provider for provider in PROVIDERS if provider.name == "xAI")
    with ProviderDouble(xai, [Said(thinking="Six times seven.", text="42")]) as double:
        usage = json.loads(asked(double, xai)[1])["usage"]
    bill = double.books[0].bill
    assert usage["completion_tokens"] == bill.text
    assert usage["total_tokens"] == bill.prompt + bill.text + bill.thinking
    assert usage["cost_in_usd_ticks"] == round(bill.usd * 1e10)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"max_tokens": 9}, "Use 'max_completion_tokens' instead"),
        ({"temperature": 0.5}, "does not support 0.5 with this model"),
        ({"tools": [{"type": "function", "function": {"name": "look"}}]}, "use /v1/responses"),
        ({"sead": 3}, "Unknown parameter: 'sead'"),
        (
            {
                "response_format": {
                    "type": "json_schema",
                    "json_schema": {"name": "answer", "strict": True, "schema": {"type": "object"}},
                }
            },
            "'additionalProperties' is required",
        ),
        ({"messages": [QUESTION, {"role": "tool", "tool_call_id": "x"}]}, "preceeding message"),
    ],
)
def test_openai_refuses(fields: dict[str, Any], message: str) -> None:
    (openai,) = (provider for provider in PROVIDERS if provider.name == "OpenAI")
    with ProviderDouble(openai, []) as double:
        status, content = asked(double, openai, **fields)
    assert (status, message in content) == (400, True), content


def test_gemini_wants_the_signature_of_a_call_back() -> None:
    (gemini,) = (provider for provider in PROVIDERS if provider.name == "Gemini")
    call = Said(calls=(ScriptedCall(name="look", arguments="{}"),))
    with ProviderDouble(gemini, [call, Said(text="42"), Said(text="42")]) as double:
        message = json.loads(asked(double, gemini)[1])["choices"][0]["message"]
        (product,) = message["tool_calls"]
        result = {"role": "tool", "tool_call_id": product["id"], "content": "here"}
        bare = message | {
            "tool_calls": [{k: v for k, v in product.items() if k != "extra_content"}]
        }
        status, content = asked(double, gemini, messages=[QUESTION, bare, result])
        assert (status, "missing a thought_signature" in content) == (400, True)
        assert asked(double, gemini, messages=[QUESTION, message, result])[0] == 200
        later = [QUESTION, bare, result, {"role": "user", "content": "And now?"}]
        assert asked(double, gemini, messages=later)[0] == 200


def test_responses_want_every_call_with_its_output_and_thinking_that_is_there() -> None:
    (openai,) = (provider for provider in PROVIDERS if provider.name == "OpenAI, responses")
    call = Said(thinking="Look.", calls=(ScriptedCall(name="look", arguments="{}"),))
    include = ["reasoning.encrypted_content"]
    with ProviderDouble(openai, [call, Said(text="42")]) as double:
        items = json.loads(asked(double, openai, include=include)[1])["output"]
        output = {"type": "function_call_output", "call_id": items[-1]["call_id"], "output": "x"}
        status, content = asked(double, openai, input=[QUESTION, *items])
        assert (status, "No tool output found" in content) == (400, True)
        assert asked(double, openai, input=[QUESTION, output])[0] == 400
        lost = {key: value for key, value in items[0].items() if key != "encrypted_content"}
        assert asked(double, openai, input=[QUESTION, lost, *items[1:], output])[0] == 404
        assert asked(double, openai, input=[QUESTION, *items, output])[0] == 200


def test_mistral_names_the_place_of_what_it_does_not_know() -> None:
    (mistral,) = (provider for provider in PROVIDERS if provider.name == "Mistral")
    record = {"role": "assistant", "content": "42", "reasoning_content": "Six times seven."}
    cases: list[tuple[dict[str, Any], list[str]]] = [
        ({"seed": 7}, ["body", "seed"]),
        ({"stream_options": {"include_usage": True}}, ["body", "stream_options", "include_usage"]),
        (
            {"messages": [QUESTION, record]},
            ["body", "messages", "1", "assistant", "reasoning_content"],
        ),
    ]
    for fields, place in cases:
        with ProviderDouble(mistral, []) as double:
            status, content = asked(double, mistral, **fields)
        assert status == 422
        assert json.loads(content)["message"]["detail"][0]["loc"] == place


def test_a_refusal_has_each_providers_own_form() -> None:
    forms = {
        "OpenAI": '"refusal": "No."',
        "OpenAI, responses": '"type": "refusal"',
        "Azure OpenAI": '"code": "content_filter"',
        "Anthropic": '"stop_reason": "refusal"',
        "Gemini": '"finish_reason": "content_filter"',
        "DeepSeek": "Content Exists Risk",
        "xAI": "violates usage guidelines",
    }
    for provider in PROVIDERS:
        with ProviderDouble(provider, [Said(refusal="No.")]) as double:
            assert forms.get(provider.name, "") in asked(double, provider)[1]
