"""Providers that serve models of others: Groq, Fireworks, Together, OpenRouter."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .chat_form import (
    CHAT_PARAMETERS,
    openai_bill,
    openai_error,
    plain_bill,
    with_reasoning,
    with_reasoning_content,
)
from .messages_form import signed
from .openai import NO_MODEL, NO_PART
from .provider import Provider, Speech
from .rules import closed_schemas, only_fields, tool_messages_follow
from .said import Refusal
from .sees import Sees

if TYPE_CHECKING:
    from .said import Bill, Said

CHAT_FIELDS = ("role", "content", "name", "tool_calls", "refusal")


def groq_bill(bill: Bill) -> dict[str, Any]:
    """Write it as Groq, with how long everything took."""
    return openai_bill(bill) | {"queue_time": 0.01, "prompt_time": 0.01, "total_time": 0.02}


GROQ = Provider(
    name="Groq",
    model="openai/gpt-oss-120b",
    choice="groq/openai/gpt-oss-120b",
    variables={"GROQ_API_BASE": "{origin}/openai/v1", "GROQ_API_KEY": "{key}"},
    speaks={
        "/openai/v1/chat/completions": Speech(
            accepts=CHAT_PARAMETERS - {"store", "verbosity", "web_search_options", "audio"}
            | {"include_reasoning", "reasoning_format", "disable_tool_validation", "documents"},
            unknown=Refusal(status=400, message="property '{parameter}' is unsupported"),
            message=with_reasoning,
            rules=(
                only_fields(
                    Refusal(
                        status=400,
                        message=(
                            "'messages.{index}' : for 'role:assistant' the following must be"
                            " satisfied[('messages.{index}' : property '{field}' is unsupported)]"
                        ),
                    ),
                    *CHAT_FIELDS,
                    "reasoning",
                ),
                closed_schemas,
                tool_messages_follow,
            ),
            usage=groq_bill,
            whole_calls=True,
        )
    },
    wrong_key=Refusal(status=401, message="Invalid API Key", code="invalid_api_key"),
    unknown_model=NO_MODEL,
    overflow=Refusal(
        status=400,
        message="Please reduce the length of the messages or completion.",
        param="messages",
        code="context_length_exceeded",
    ),
    busy=Refusal(
        status=429,
        message=(
            "Rate limit reached for model `openai/gpt-oss-120b` in organization `org_0` service"
            " tier `on_demand` on tokens per minute (TPM): Limit 8000, Used 7990, Requested 30."
            " Please try again in 1s."
        ),
        kind="tokens",
        code="rate_limit_exceeded",
        headers={"retry-after": "1"},
        wait=1,
    ),
    sources=(
        "https://console.groq.com/docs/api-reference",
        "https://console.groq.com/docs/rate-limits",
        "https://github.com/janhq/jan/issues/8136",
        "https://github.com/fanenr/chatbot/issues/21",
        "https://github.com/thepersonalaicompany/amurex-backend/issues/51",
    ),
)


def fireworks_error(refusal: Refusal) -> dict[str, Any]:
    """Write it as Fireworks."""
    error = openai_error(refusal)["error"]
    return {"error": {"object": "error", **error}}


FIREWORKS = Provider(
    name="Fireworks",
    model="accounts/fireworks/models/deepseek-v3p2",
    choice="fireworks_ai/accounts/fireworks/models/deepseek-v3p2",
    variables={"FIREWORKS_API_BASE": "{origin}/inference/v1", "FIREWORKS_API_KEY": "{key}"},
    speaks={
        "/inference/v1/chat/completions": Speech(
            accepts=CHAT_PARAMETERS | {"context_length_exceeded_behavior", "thinking", "top_k"},
            unknown=Refusal(
                status=400, message="Extra inputs are not permitted, field: '{parameter}'"
            ),
            message=with_reasoning_content,
            rules=(
                only_fields(
                    Refusal(
                        status=400,
                        message=(
                            "Extra inputs are not permitted, field: 'messages[{index}].{field}'"
                        ),
                    ),
                    *CHAT_FIELDS,
                    "reasoning_content",
                ),
                tool_messages_follow,
            ),
            usage=plain_bill,
            caches=False,
            usage_unasked=True,
        )
    },
    envelope=fireworks_error,
    wrong_key=Refusal(
        status=401, message="The API key you provided is invalid.", code="UNAUTHORIZED"
    ),
    unknown_model=Refusal(
        status=404,
        message="Model not found, inaccessible, and/or not deployed",
        code="NOT_FOUND",
        param="model",
    ),
    overflow=Refusal(
        status=400,
        message="The prompt is too long: {size}, model maximum context length: {most}",
    ),
    sources=(
        "https://docs.fireworks.ai/api-reference/post-chatcompletions",
        "https://docs.fireworks.ai/guides/reasoning",
        "https://github.com/ogx-ai/ogx/issues/697",
    ),
)


def together_error(refusal: Refusal) -> dict[str, Any]:
    """Write it as Together: https://github.com/HeyPuter/puter/issues/3168."""
    return {"id": "oid-0", **openai_error(refusal)}


TOGETHER = Provider(
    name="Together",
    model="openai/gpt-oss-120b",
    choice="together_ai/openai/gpt-oss-120b",
    variables={"TOGETHER_AI_API_BASE": "{origin}/v1", "TOGETHER_API_KEY": "{key}"},
    speaks={
        "/v1/chat/completions": Speech(
            message=with_reasoning,
            rules=(tool_messages_follow,),
            usage=plain_bill,
            caches=False,
            usage_unasked=True,
        )
    },
    envelope=together_error,
    wrong_key=Refusal(
        status=401,
        message=(
            "Invalid API key provided. You can find your API key at"
            " https://api.together.xyz/settings/api-keys."
        ),
        code="invalid_api_key",
    ),
    unknown_model=Refusal(
        status=400,
        message=(
            "Unable to access non-serverless model {model}. Please visit"
            " https://api.together.ai/models/{model} to create and start a new dedicated endpoint"
            " for the model."
        ),
        code="model_not_available",
    ),
    overflow=Refusal(
        status=400,
        message=(
            "Input validation error: `inputs` tokens + `max_new_tokens` must be <= {most}. Given:"
            " {size} `inputs` tokens and 256 `max_new_tokens`"
        ),
        param="max_tokens",
    ),
    busy=Refusal(
        status=429,
        message=(
            "You have been rate limited. Your rate limit is 60 queries per minute. Please navigate"
            " to https://api.together.xyz/settings/billing to upgrade to a paid plan."
        ),
        kind="credit_limit",
    ),
    sources=(
        "https://github.com/togethercomputer/openapi",
        "https://github.com/harshitv804/LawGPT/issues/4",
        "https://github.com/HeyPuter/puter/issues/3168",
        "https://github.com/BerriAI/litellm/issues/4934",
        "https://github.com/togethercomputer/MoA/issues/27",
    ),
)


def openrouter_error(refusal: Refusal) -> dict[str, Any]:
    """Write it as OpenRouter, whose code is the status."""
    return {"error": {"message": refusal.message, "code": refusal.status}, "user_id": "user_0"}


def openrouter_bill(bill: Bill) -> dict[str, Any]:
    """Write it as OpenRouter, with the price in USD.

    https://openrouter.ai/docs/use-cases/usage-accounting.
    """
    return openai_bill(bill) | {"cost": bill.usd, "is_byok": False}


def with_reasoning_details(message: dict[str, Any], answer: Said) -> dict[str, Any]:
    """Add what was thought as text, and as parts that come back.

    https://openrouter.ai/docs/use-cases/reasoning-tokens.
    """
    if not answer.thinking:
        return message
    detail = {
        "type": "reasoning.text",
        "text": answer.thinking,
        "signature": signed(answer.thinking),
        "format": "anthropic-claude-v1",
        "index": 0,
    }
    return message | {"reasoning": answer.thinking, "reasoning_details": [detail]}


OPENROUTER = Provider(
    name="OpenRouter",
    model="anthropic/claude-sonnet-4.6",
    choice="openrouter/anthropic/claude-sonnet-4.6",
    variables={"OPENROUTER_API_BASE": "{origin}/api/v1", "OPENROUTER_API_KEY": "{key}"},
    speaks={
        "/api/v1/chat/completions": Speech(
            message=with_reasoning_details,
            rules=(tool_messages_follow,),
            sees=Sees(parts={"image_url": "image", "file": "pdf"}, otherwise=NO_PART),
            usage=openrouter_bill,
            usage_unasked=True,
        )
    },
    envelope=openrouter_error,
    comes_back=signed,
    reports_cost=True,
    wrong_key=Refusal(status=401, message="No auth credentials found"),
    unknown_model=Refusal(status=400, message="{model} is not a valid model ID"),
    overflow=Refusal(
        status=400,
        message=(
            "This endpoint's maximum context length is {most} tokens. However, you requested about"
            " {size} tokens ({size} of text input). Please reduce the length of either one, or use"
            ' the "middle-out" transform to compress your prompt automatically.'
        ),
    ),
    busy=Refusal(
        status=429,
        message="Rate limit exceeded: free-models-per-min.",
        headers={"x-ratelimit-remaining": "0"},
    ),
    sources=(
        "https://openrouter.ai/docs/use-cases/reasoning-tokens",
        "https://openrouter.ai/docs/use-cases/usage-accounting",
        "https://openrouter.ai/docs/features/multimodal/pdfs",
        "https://openrouter.ai/docs/api/reference/errors-and-debugging",
        "https://github.com/maxnowack/anthropic-proxy/issues/4",
        "https://github.com/refly-ai/refly/issues/1177",
    ),
)
