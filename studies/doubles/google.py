"""Google's Gemini by its OpenAI-compatible endpoint: signed calls must come back as they were."""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from .provider import Provider, Speech
from .rules import last_turn, tool_messages_follow
from .said import Refusal, digest, names
from .sees import Sees

if TYPE_CHECKING:
    from .said import Bill, Body, Said

COMPATIBLE_PARAMETERS = names(
    """
    audio extra_body frequency_penalty max_completion_tokens max_tokens messages modalities model
    n parallel_tool_calls presence_penalty reasoning_effort response_format seed service_tier stop
    stream stream_options temperature tool_choice tools top_logprobs top_p user logprobs
    """
)
"""https://ai.google.dev/gemini-api/docs/openai."""


def google_error(refusal: Refusal) -> list[dict[str, Any]]:
    """Write it as Google's compatible endpoint: a list of one.

    https://github.com/microsoft/autogen/issues/7136; how long to wait stands in the details:
    https://ai.google.dev/gemini-api/docs/troubleshooting.
    """
    error: dict[str, Any] = {
        "code": refusal.status,
        "message": refusal.message,
        "status": refusal.code or HTTPStatus(refusal.status).name,
    }
    if refusal.wait:
        kind = "type.googleapis.com/google.rpc.RetryInfo"
        error["details"] = [{"@type": kind, "retryDelay": f"{refusal.wait:g}s"}]
    return [{"error": error}]


def google_bill(bill: Bill) -> dict[str, Any]:
    """Write it as the compatible endpoint: thinking is only in the total.

    https://github.com/mozilla-ai/any-llm/issues/1290.
    """
    return {
        "prompt_tokens": bill.prompt,
        "completion_tokens": bill.text,
        "total_tokens": bill.total,
        "prompt_tokens_details": {"cached_tokens": bill.cached},
    }


def _signature(call: dict[str, Any]) -> str:
    return f"Cv{digest(call['function']['name'] + call['function']['arguments'])}"


def with_signature(message: dict[str, Any], _answer: Said) -> dict[str, Any]:
    """Sign the first call of a step, as https://ai.google.dev/gemini-api/docs/thought-signatures."""
    calls = message.get("tool_calls")
    if not calls:
        return message
    extra = {"google": {"thought_signature": _signature(calls[0])}}
    return message | {"tool_calls": [calls[0] | {"extra_content": extra}, *calls[1:]]}


def signed_calls(body: Body) -> Refusal | None:
    """Refuse a step of the last turn whose first call has lost its signature."""
    for position, message in last_turn(body):
        for call in (message.get("tool_calls") or ())[:1]:
            google = (call.get("extra_content") or {}).get("google") or {}
            if google.get("thought_signature") != _signature(call):
                return Refusal(
                    status=400,
                    message=(
                        "Function call is missing a thought_signature in functionCall parts. This"
                        " is required for tools to work correctly, and missing thought_signature"
                        " may lead to degraded model performance. Additional data, function call"
                        f" `default_api:{call['function']['name']}` , position {position + 1}."
                        " Please refer to https://ai.google.dev/gemini-api/docs/thought-signatures"
                        " for more details."
                    ),
                    code="INVALID_ARGUMENT",
                )
    return None


GEMINI = Provider(
    name="Gemini",
    model="gemini-3.1-pro-preview",
    choice="gemini/gemini-3.1-pro-preview",
    variables={"GEMINI_API_BASE": "{origin}/v1beta/openai", "GEMINI_API_KEY": "{key}"},
    speaks={
        "/v1beta/openai/chat/completions": Speech(
            accepts=COMPATIBLE_PARAMETERS,
            unknown=Refusal(
                status=400,
                message=(
                    'Invalid JSON payload received. Unknown name "{parameter}": Cannot find field.'
                ),
                code="INVALID_ARGUMENT",
            ),
            message=with_signature,
            rules=(tool_messages_follow, signed_calls),
            sees=Sees(parts={"image_url": "image"}),
            usage=google_bill,
            refuses="filter",
            whole_calls=True,
        )
    },
    envelope=google_error,
    shows_thinking=False,
    comes_back=lambda _thinking: "thought_signature",
    wrong_key=Refusal(
        status=400,
        message="API key not valid. Please pass a valid API key.",
        code="INVALID_ARGUMENT",
    ),
    unknown_model=Refusal(
        status=404,
        message=(
            "models/{model} is not found for API version v1main, or is not supported for"
            " generateContent. Call ListModels to see the list of available models and their"
            " supported methods."
        ),
        code="NOT_FOUND",
    ),
    overflow=Refusal(
        status=400,
        message=(
            "The input token count ({size}) exceeds the maximum number of tokens allowed ({most})."
        ),
        code="INVALID_ARGUMENT",
    ),
    busy=Refusal(
        status=429,
        message="You exceeded your current quota, please check your plan and billing details.",
        code="RESOURCE_EXHAUSTED",
        wait=1,
    ),
    sources=(
        "https://ai.google.dev/gemini-api/docs/openai",
        "https://ai.google.dev/gemini-api/docs/thought-signatures",
        "https://github.com/microsoft/autogen/issues/7136",
        "https://github.com/continuedev/continue/issues/10290",
        "https://github.com/google-gemini/gemini-cli/issues/9775",
        "https://github.com/mozilla-ai/any-llm/issues/1290",
    ),
)
