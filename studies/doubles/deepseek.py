"""DeepSeek: what was thought before a tool's call must come back with its result."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .chat_form import with_reasoning_content
from .provider import Provider, Speech
from .rules import json_types, marked, tool_messages_follow
from .said import Refusal
from .sees import Sees

if TYPE_CHECKING:
    from .said import Bill


def deepseek_bill(bill: Bill) -> dict[str, Any]:
    """Write it as DeepSeek, which counts hits and misses of its cache at the top.

    https://api-docs.deepseek.com/guides/kv_cache.
    """
    return {
        "prompt_tokens": bill.prompt,
        "completion_tokens": bill.completion,
        "total_tokens": bill.total,
        "prompt_cache_hit_tokens": bill.cached,
        "prompt_cache_miss_tokens": bill.prompt - bill.cached,
        "completion_tokens_details": {"reasoning_tokens": bill.thinking},
    }


DEEPSEEK = Provider(
    name="DeepSeek",
    model="deepseek-v4-pro",
    choice="deepseek/deepseek-v4-pro",
    variables={"DEEPSEEK_API_BASE": "{origin}", "DEEPSEEK_API_KEY": "{key}"},
    speaks=dict.fromkeys(
        ("/chat/completions", "/v1/chat/completions", "/beta/chat/completions"),
        Speech(
            message=with_reasoning_content,
            rules=(
                json_types(
                    Refusal(
                        status=400,
                        message="This response_format type is unavailable now",
                        code="invalid_request_error",
                    ),
                    "text",
                    "json_object",
                ),
                tool_messages_follow,
                marked(
                    Refusal(
                        status=400,
                        message=(
                            "The `reasoning_content` in the thinking mode must be passed back to"
                            " the API."
                        ),
                        code="invalid_request_error",
                    ),
                    "reasoning_content",
                ),
            ),
            sees=Sees(
                parts={},
                otherwise=Refusal(
                    status=400,
                    message=(
                        "Failed to deserialize the JSON body into the target type:"
                        " messages[{index}]: unknown variant `{type}`, expected `text`"
                    ),
                    code="invalid_request_error",
                ),
            ),
            asked_to_think=lambda body: (body.get("thinking") or {}).get("type") != "disabled",
            usage=deepseek_bill,
            refuses=Refusal(
                status=400, message="Content Exists Risk", code="invalid_request_error"
            ),
        ),
    ),
    comes_back=lambda thinking: thinking,
    wrong_key=Refusal(
        status=401,
        message="Authentication Fails, Your api key: ****known is invalid",
        kind="authentication_error",
        code="invalid_request_error",
    ),
    unknown_model=Refusal(status=400, message="Model Not Exist", code="invalid_request_error"),
    overflow=Refusal(
        status=400,
        message=(
            "This model's maximum context length is {most} tokens. However, you requested {size}"
            " tokens ({size} in the messages, 0 in the completion). Please reduce the length of"
            " the messages or completion."
        ),
        code="invalid_request_error",
    ),
    busy=Refusal(status=429, message="Rate Limit Reached", headers={"retry-after": "1"}, wait=1),
    sources=(
        "https://api-docs.deepseek.com/guides/thinking_mode",
        "https://github.com/MGdaasLab/WHartTest/issues/95",
        "https://api-docs.deepseek.com/quick_start/error_codes",
        "https://github.com/continuedev/continue/issues/9733",
        "https://github.com/esengine/DeepSeek-Reasonix/issues/7859",
    ),
)
