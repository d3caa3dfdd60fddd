"""Which API is spoken to a model: as models.yaml says, as litellm's list says, as it turns out."""

import asyncio
from typing import Any

import pytest

from coterie.runtime.gateway import CallError, ChatRequest, Gateway, endpoint_of
from coterie.runtime.gateway.chat.fallback import ParameterChange
from coterie.schema import InputError, Model

from ....served import Served, serving

KEYS = {"OPENAI_API_KEY": "sk-1", "ANTHROPIC_API_KEY": "sk-2", "GEMINI_API_KEY": "sk-3"}


def shown(model: str, environment: Any = KEYS, **fields: Any) -> str:
    return endpoint_of(Model(alias="default", model=model, **fields), environment).shown


@pytest.mark.parametrize(
    ("model", "address"),
    [
        ("openai/gpt-4o-mini", "https://api.openai.com/v1/chat/completions"),
        ("openai/gpt-5-pro", "https://api.openai.com/v1/responses"),
        ("openai/gpt-5.1-codex", "https://api.openai.com/v1/responses"),
        ("openai/o3-pro", "https://api.openai.com/v1/responses"),
        ("anthropic/claude-sonnet-4-5", "https://api.anthropic.com/v1/messages"),
        (
            "gemini/gemini-2.5-pro",
            "https://generativelanguage.googleapis.com/v1beta/openai/chat/completions",
        ),
    ],
)
def test_a_model_is_spoken_to_by_the_api_that_it_answers(model: str, address: str) -> None:
    assert shown(model) == address


def test_what_is_listed_counts_at_the_provider_only() -> None:
    own = {"OPENAI_BASE_URL": "http://127.0.0.1:1/v1"}
    assert shown("openai/gpt-5-pro", own) == "http://127.0.0.1:1/v1/chat/completions"


@pytest.mark.parametrize(
    ("api", "base", "address"),
    [
        ("chat", "http://h/v1", "http://h/v1/chat/completions"),
        ("responses", "http://h/v1/", "http://h/v1/responses"),
        ("responses", "http://h/v1/responses", "http://h/v1/responses"),
        ("anthropic", "http://h/anthropic", "http://h/anthropic/v1/messages"),
        ("anthropic", "http://h/v1/messages", "http://h/v1/messages"),
    ],
)
def test_what_the_host_says_counts_first(api: str, base: str, address: str) -> None:
    assert shown("m", {}, api=api, api_base=base) == address
    assert shown("openai/gpt-5-pro", KEYS, api="chat").endswith("/chat/completions")


@pytest.mark.parametrize(
    ("version", "address"),
    [
        (None, "https://me.openai.azure.com/openai/v1/responses"),
        (
            "2025-04-01-preview",
            "https://me.openai.azure.com/openai/responses?api-version=2025-04-01-preview",
        ),
    ],
)
def test_azure_has_its_responses_beside_its_deployments(version: str | None, address: str) -> None:
    azure = {"AZURE_API_BASE": "https://me.openai.azure.com", "AZURE_API_KEY": "k"}
    assert shown("azure/gpt-5-pro", azure, api_version=version) == address


@pytest.mark.parametrize("model", ["watsonx/m", "local"])
def test_an_api_cannot_be_chosen_where_a_library_speaks(model: str) -> None:
    with pytest.raises(InputError, match="api: responses is not supported"):
        shown(model, {"COHERE_API_KEY": "sk-4"}, api="responses")


# Each as it was said by the provider, with where it was found.
ELSEWHERE = [
    # https://github.com/pgadmin-org/pgadmin4/issues/9795
    (404, "This model is only supported in v1/responses and not in v1/chat/completions."),
    # https://github.com/danny-avila/LibreChat/issues/14231
    (
        400,
        "Function tools with reasoning_effort are not supported for gpt-5.6-terra in"
        " /v1/chat/completions. To use function tools, use /v1/responses or set reasoning_effort to"
        " 'none'.",
    ),
    # https://github.com/pipecat-ai/pipecat/issues/4043
    (
        400,
        "Function tools with reasoning_effort are not supported for gpt-5.4 in"
        " /v1/chat/completions. Please use /v1/responses instead.",
    ),
    # https://github.com/micz/ThunderAI/issues/570
    (
        404,
        "This is not a chat model and thus not supported in the v1/chat/completions endpoint. Did"
        " you mean to use v1/completions?",
    ),
]
SAID = {
    "status": "completed",
    "model": "gpt-5.6-terra",
    "output": [{"type": "message", "content": [{"type": "output_text", "text": "four"}]}],
    "usage": {"input_tokens": 10, "output_tokens": 2},
}
NOWHERE = {"error": {"message": "Not Found", "type": "invalid_request_error"}}


def refusal(message: str) -> Any:
    return {"error": {"message": message, "type": "invalid_request_error", "param": None}}


async def asked_twice(*answers: tuple[int, Any]) -> tuple[Served, list[Any], list[ParameterChange]]:
    """Ask a model two times; give what was served, what came of it, and what was told."""
    report: list[ParameterChange] = []
    request = ChatRequest(
        model="default", messages=[{"role": "user", "content": "hi"}], retries=0, max_tokens=8
    )
    async with serving(*answers) as served:
        model = Model(alias="default", model="gpt-5.6-terra", api_base=f"{served.address}/v1")
        async with Gateway({"default": model}, environment={}) as gateway:
            outcomes: list[Any] = []
            for _ in range(2):
                try:
                    answer = await gateway.chat(request, on_adapted=report.append)
                    outcomes.append(answer.text)
                except CallError as error:
                    outcomes.append(error)
    return served, outcomes, report


@pytest.mark.parametrize(("status", "message"), ELSEWHERE)
def test_a_model_that_answers_elsewhere_is_asked_there_then(status: int, message: str) -> None:
    served, outcomes, report = asyncio.run(asked_twice((status, refusal(message)), (200, SAID)))
    assert served.paths == ["/v1/chat/completions", "/v1/responses", "/v1/responses"]
    assert outcomes == ["four", "four"]
    (item,) = report
    assert (item.parameter, item.asked, item.instead) == ("api", "chat", "responses")


def test_who_has_no_other_api_is_asked_as_before_and_has_the_last_word() -> None:
    message = "This model is only supported in v1/responses."
    served, outcomes, report = asyncio.run(
        asked_twice((404, refusal(message)), (404, NOWHERE), (404, refusal(message)))
    )
    assert served.paths == [
        "/v1/chat/completions",
        "/v1/responses",
        "/v1/chat/completions",
        "/v1/chat/completions",
    ]
    assert all(message in str(outcome) for outcome in outcomes)
    assert [item.instead for item in report] == ["responses", "chat"]


def test_a_model_that_is_in_neither_api_is_told_of_by_the_one_that_should_have_it() -> None:
    first = refusal("This model is only supported in v1/responses.")
    missing = refusal("The model `gpt-9` does not exist or you do not have access to it.")
    served, outcomes, _ = asyncio.run(asked_twice((404, first), (404, missing)))
    assert served.paths == ["/v1/chat/completions", "/v1/responses", "/v1/responses"]
    assert all("`gpt-9` does not exist" in str(outcome) for outcome in outcomes)


def test_a_model_that_is_not_there_is_not_looked_for_elsewhere() -> None:
    missing = refusal("The model `gpt-9` does not exist or you do not have access to it.")
    served, outcomes, report = asyncio.run(asked_twice((404, missing)))
    assert served.paths == ["/v1/chat/completions"] * 2
    assert (report, [outcome.kind for outcome in outcomes]) == ([], ["unknown"] * 2)
