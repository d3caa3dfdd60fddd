"""Parameters that endpoints refuse: read in any provider's words, said otherwise, remembered."""

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from coterie.runtime.gateway import CallError, ChatAnswer, ChatRequest, Endpoint
from coterie.runtime.gateway.chat.body import Body
from coterie.runtime.gateway.chat.fallback import ParameterChange
from coterie.runtime.gateway.chat.parameters import refused_by
from coterie.runtime.gateway.chat.schema_in_words import with_schema
from coterie.runtime.gateway.wires.chat import ChatWire
from coterie.runtime.values.budget import Budget

from ....provider import Provider, answer, gateway_to, in_turn, model, request
from ....virtual_time import run_virtually, virtual_clock, virtually

TABLE: list[Mapping[str, Any]] = yaml.safe_load(
    Path(__file__).with_name("parameters.yaml").read_text(encoding="utf-8")
)
ENDPOINT = Endpoint(kind="openai", model="m", api_base="http://provider/v1")
SCHEMA = {"type": "object", "properties": {"answer": {"type": "string"}}, "required": ["answer"]}
TOOL = {"type": "function", "function": {"name": "add", "parameters": {}}}
EVERYTHING: dict[str, Any] = {
    "temperature": 0.5,
    "top_p": 0.9,
    "seed": 1,
    "stop": ("end",),
    "effort": "minimal",
    "tools": (TOOL,),
    "tool_choice": "required",
    "schema": SCHEMA,
}
OTHERS: dict[str, Any] = {
    "temperature": 0.25,
    "top_p": 0.8,
    "seed": 8,
    "stop": ["finis"],
    "effort": "high",
    "tool_choice": "none",
    "schema": SCHEMA,
}
"""Other values than any that are asked for below."""


def asking(**sent: Any) -> ChatRequest:
    fields: dict[str, Any] = {
        name: tuple(item) if name == "stop" else item for name, item in sent.items()
    }
    if fields.pop("schema", None):
        fields["schema"] = SCHEMA
    if "tool_choice" in fields:
        fields["tools"] = (TOOL,)
    return request("default", **fields)


def body(wanted: ChatRequest, refused: frozenset[str] = frozenset()) -> Body:
    return ChatWire().body(ENDPOINT, wanted, refused)


def refusing(message: str, *, status: int = 400) -> CallError:
    return CallError(message, kind="rejected", status=status, words=message)


@pytest.mark.parametrize("row", TABLE, ids=lambda row: f"{row['provider']}: {row['from']}")
def test_what_is_refused_is_said_otherwise_in_any_providers_words(row: Mapping[str, Any]) -> None:
    wanted, before = asking(**row["sent"]), frozenset(row.get("after", ()))
    sent = body(wanted, before)
    refused = refused_by(
        refusing(row["said"], status=row.get("status", 400)), sent, row.get("again", ())
    )
    other = body(wanted, before | refused)
    then = {item: form.name for item, form in other.forms.items() if form != sent.forms[item]}
    assert then == row["then"]


@pytest.mark.parametrize(
    "row",
    [row for row in TABLE if row["then"]],
    ids=lambda row: f"{row['provider']}: {row['from']}",
)
def test_a_parameter_refused_as_such_is_refused_with_any_value(row: Mapping[str, Any]) -> None:
    before = frozenset(row.get("after", ()))
    error = refusing(row["said"], status=row.get("status", 400))
    refused = refused_by(error, body(asking(**row["sent"]), before), row.get("again", ()))
    other = body(asking(**{name: OTHERS[name] for name in row["sent"]}), before | refused)
    left_out = {name for name in row["then"] if other.forms[name].name == "left out"}
    assert left_out == {*row.get("always", ())}


@pytest.mark.parametrize(
    ("message", "is_always"),
    [
        ("seed is not supported by this model", True),
        ("'seed' is not supported when temperature is 0", False),
        ("seed 7 is not supported", False),
        ("Unsupported value: 'seed' does not support 7 with this model.", False),
        ("1 validation error: seed Extra inputs are not permitted [input_value=7]", True),
        ("seed must be at most 6; larger ones are not supported", False),
    ],
)
def test_what_is_said_of_a_value_stays_with_the_value(message: str, is_always: bool) -> None:
    refused = refused_by(refusing(message), body(asking(seed=7)), ())
    assert "seed" not in body(asking(seed=7), refused).fields
    assert ("seed" not in body(asking(seed=8), refused).fields) is is_always


@pytest.mark.parametrize(
    ("message", "taken", "requests", "told_of"),
    [
        ("Unsupported parameter: 'seed' is not supported with this model.", (), 20 + 1, 1),
        ("invalid seed: only 1 is allowed for this model", (1,), 1 + 19 * 2, 19),
    ],
)
@virtually
async def test_what_takes_no_seed_is_asked_in_vain_once_and_not_for_each_seed(
    message: str, taken: tuple[int, ...], requests: int, told_of: int
) -> None:
    report: list[ParameterChange] = []

    async def behave(_model: str, sent: Mapping[str, Any]) -> ChatAnswer:
        if "seed" in sent and sent["seed"] not in taken:
            raise refusing(message)
        return answer()

    provider = Provider(behave)
    async with gateway_to(provider) as gateway:
        answers = [
            await gateway.chat(request(seed=seed), on_adapted=report.append)
            for seed in range(1, 21)
        ]
    assert len(provider.asked) == requests
    assert [item.adapted for item in answers] == [
        {} if seed in taken else {"seed": "left out"} for seed in range(1, 21)
    ]
    assert len(report) == told_of


@pytest.mark.parametrize(
    "message",
    [
        "This model's maximum context length is 8192 tokens, and max_tokens is not supported so",
        "max_tokens: 32000 > 8192, which is the maximum allowed number of output tokens",
        "messages.3.content: Input should be a valid list",
        "temperature",
        "Your prompt was flagged by the content policy; temperature is not allowed",
        '{"error": {"message": "Invalid value", "param": "messages[0].role"}}',
        "",
    ],
)
def test_words_about_something_else_refuse_nothing(message: str) -> None:
    assert not refused_by(refusing(message), body(asking(**EVERYTHING)), frozenset())


@pytest.mark.parametrize("status", [401, 402, 403, 429, 500, None])
def test_only_a_refusal_of_the_request_is_one(status: int | None) -> None:
    error = CallError("", kind="down", status=status, words="'temperature' is not supported")
    assert not refused_by(error, body(asking(**EVERYTHING)), frozenset())


@virtually
async def test_what_was_adapted_is_remembered_told_once_and_noted_with_each_answer() -> None:
    """Also by calls that were on their way when the first of them learnt it."""
    report: list[ParameterChange] = []
    word = "Unsupported value: 'temperature' does not support 0.5 with this model."

    async def behave(_model: str, sent: Mapping[str, Any]) -> ChatAnswer:
        if "temperature" in sent:
            raise refusing(word)
        return answer()

    provider = Provider(behave)
    async with gateway_to(provider) as gateway:
        wanted = request(temperature=0.5)
        calls = (gateway.chat(wanted, on_adapted=report.append) for _ in range(3))
        answers = [*await asyncio.gather(*calls), await gateway.chat(wanted)]
    assert [item.adapted for item in answers] == [{"temperature": "left out"}] * 4
    assert len(provider.asked) <= 3 + 3 + 1
    assert [(item.alias, item.parameter, item.asked, item.instead) for item in report] == [
        ("default", "temperature", "0.5", "left out")
    ]
    assert "does not support 0.5" in report[0].words


@virtually
async def test_what_an_api_does_not_have_is_told_once_though_nobody_refused_it() -> None:
    report: list[ParameterChange] = []
    provider = Provider(in_turn(answer(), answer(), answer()))
    async with gateway_to(provider, model(api="anthropic")) as gateway:
        efforts = ("minimal", "minimal", "low")
        calls = (request(effort=effort, max_tokens=100) for effort in efforts)
        answers = [await gateway.chat(call, on_adapted=report.append) for call in calls]
    noted = {"reasoning_effort": "low"}
    assert [item.adapted for item in answers] == [noted, noted, {}]
    assert [(item.parameter, item.asked, item.instead) for item in report] == [
        ("reasoning_effort", "minimal", "low")
    ]


@pytest.mark.parametrize(
    ("effort", "weights", "noted"),
    [
        ("low", None, {"reasoning_effort": "left out"}),
        ("none", Path("thinker.gguf"), {"reasoning_effort": "left out"}),
        ("none", None, {}),
        (None, None, {}),
    ],
)
def test_the_embedded_server_takes_no_effort(
    effort: Any, weights: Path | None, noted: dict[str, str]
) -> None:
    endpoint = Endpoint(kind="local", model="local", weights=weights)
    sent = ChatWire().body(endpoint, asking(effort=effort), frozenset())
    assert "reasoning_effort" not in sent.fields
    assert sent.adapted == noted


def test_another_name_for_the_same_is_not_noted() -> None:
    sent = body(asking(), frozenset({"max_tokens=max_tokens"}))
    assert (sent.fields["max_completion_tokens"], sent.adapted) == (4096, {})


def test_a_schema_goes_from_the_endpoint_into_the_prompt() -> None:
    wanted = asking(schema=True)
    strict = body(wanted)
    loose = body(wanted, frozenset({"response_format=json_schema"}))
    report = body(wanted, frozenset({"response_format=json_schema", "response_format=json_object"}))
    assert strict.fields["response_format"]["json_schema"]["schema"] == SCHEMA
    assert loose.fields["response_format"] == {"type": "json_object"}
    assert "response_format" not in report.fields
    assert strict.fields["messages"] == wanted.messages
    for item in (loose, report):
        assert '"answer"' in item.fields["messages"][0]["content"]
        assert item.fields["messages"][1:] == wanted.messages


def test_a_schema_that_the_prompt_tells_is_not_told_again() -> None:
    report = with_schema([{"role": "system", "content": "Be brief."}], SCHEMA)
    assert len(report) == 1
    assert report[0]["content"].startswith("Be brief.\n\n")
    assert with_schema(report, SCHEMA) == report


WORDS = st.sampled_from(
    [
        *(row["said"] for row in TABLE),
        *(f"'{name}' is not supported" for name in ("seed", "stop", "top_p", "reasoning_effort")),
        *(f"unknown parameter: {name}" for name in ("max_tokens", "max_completion_tokens")),
        *("tool_choice is invalid", "response_format is invalid", "reasoning_effort is invalid"),
    ]
)
REQUESTS = st.fixed_dictionaries(
    {}, optional={name: st.just(EVERYTHING[name]) for name in EVERYTHING}
)


@given(st.lists(WORDS, max_size=40), REQUESTS)
def test_any_sequence_of_refusals_ends_in_an_answer_or_in_the_endpoints_own_words(
    refusals: list[str], sent: dict[str, Any]
) -> None:
    left = list(refusals)

    async def behave(_model: str, _body: Mapping[str, Any]) -> ChatAnswer:
        if left:
            raise refusing(left.pop(0))
        return answer()

    async def scene() -> ChatAnswer | str:
        budget = Budget(clock=virtual_clock)
        async with gateway_to(provider) as gateway:
            try:
                return await gateway.chat(request(**sent, retries=0), budget=budget)
            except CallError as error:
                assert budget.spent.calls == 0
                return str(error)

    provider = Provider(behave)
    result = run_virtually(scene())
    assert (
        isinstance(result, ChatAnswer)
        if not left and result not in refusals
        else result in refusals
    )
    assert len(provider.asked) <= 1 + sum(
        len(ladder) for ladder in body(request(**sent)).ladders.values()
    )


@pytest.mark.parametrize("message", sorted({row["said"] for row in TABLE if row["then"]}))
@virtually
async def test_an_endpoint_that_refuses_everything_ends_with_its_own_words(message: str) -> None:
    async def behave(_model: str, _body: Mapping[str, Any]) -> ChatAnswer:
        raise refusing(message)

    provider = Provider(behave)
    async with gateway_to(provider) as gateway:
        with pytest.raises(CallError) as caught:
            await gateway.chat(request(**EVERYTHING))
        assert message in str(caught.value)
    assert len(provider.asked) <= 5
