"""Anthropic, by its own API."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .messages_form import MessagesForm, signed
from .provider import Limit, Provider, Speech
from .rules import blocks_follow, signed_thinking
from .said import Refusal, names
from .sees import Sees

if TYPE_CHECKING:
    from .said import Bill, Body


def anthropic_error(refusal: Refusal) -> dict[str, Any]:
    """Write it as Anthropic: https://platform.claude.com/docs/en/api/errors."""
    error = {"type": refusal.kind, "message": refusal.message}
    return {"type": "error", "error": error, "request_id": "req_0"}


def anthropic_bill(bill: Bill) -> dict[str, Any]:
    """Write it as Anthropic: `input_tokens` is what was read besides the cache.

    https://platform.claude.com/docs/en/build-with-claude/prompt-caching.
    """
    return {
        "input_tokens": bill.prompt - bill.cached,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": bill.cached,
        "output_tokens": bill.completion,
    }


MESSAGE_PARAMETERS = names(
    """
    cache_control container context_management inference_geo max_tokens mcp_servers messages
    metadata model output_config output_format service_tier speed stop_sequences stream system
    temperature thinking tool_choice tools top_k top_p
    """
)
"""https://platform.claude.com/docs/en/api/messages/create."""


def _asks_claude_to_think(body: Body) -> bool:
    return (body.get("thinking") or {}).get("type") in ("enabled", "adaptive")


def _needs_max_tokens(body: Body) -> Refusal | None:
    missing = "max_tokens" not in body
    return Refusal(status=400, message="max_tokens: Field required") if missing else None


ANTHROPIC = Provider(
    name="Anthropic",
    model="claude-opus-4-8",
    choice="anthropic/claude-opus-4-8",
    variables={"ANTHROPIC_API_BASE": "{origin}", "ANTHROPIC_API_KEY": "{key}"},
    speaks={
        "/v1/messages": Speech(
            form=MessagesForm(),
            accepts=MESSAGE_PARAMETERS,
            unknown=Refusal(status=400, message="{parameter}: Extra inputs are not permitted"),
            limits=(
                Limit(
                    parameter="temperature",
                    allowed=(1,),
                    refusal=Refusal(
                        status=400, message="`{parameter}` is deprecated for this model."
                    ),
                ),
            ),
            rules=(
                _needs_max_tokens,
                blocks_follow,
                signed_thinking(
                    Refusal(
                        status=400,
                        message=(
                            "messages.{index}.content.0.type: Expected `thinking` or"
                            " `redacted_thinking`, but found `{kind}`. When `thinking` is enabled,"
                            " a final `assistant` message must start with a thinking block"
                            " (preceeding the lastmost set of `tool_use` and `tool_result`"
                            " blocks)."
                        ),
                    )
                ),
            ),
            refuses="field",
            sees=Sees(
                parts={"image": "image", "document": "pdf"},
                otherwise=Refusal(
                    status=400,
                    message=(
                        "messages.{index}.content.0: Input tag '{type}' found using 'type' does not"
                        " match any of the expected tags"
                    ),
                ),
            ),
            asked_to_think=_asks_claude_to_think,
            usage=anthropic_bill,
        )
    },
    envelope=anthropic_error,
    key_header=("x-api-key", "{key}"),
    comes_back=signed,
    wrong_key=Refusal(status=401, message="invalid x-api-key", kind="authentication_error"),
    unknown_model=Refusal(status=404, message="model: {model}", kind="not_found_error"),
    overflow=Refusal(status=400, message="prompt is too long: {size} tokens > {most} maximum"),
    busy=Refusal(
        status=429,
        message=(
            "This request would exceed your organization's rate limit of 3 requests per minute."
        ),
        kind="rate_limit_error",
        headers={"retry-after": "1", "anthropic-ratelimit-requests-remaining": "0"},
        wait=1,
    ),
    sources=(
        "https://platform.claude.com/docs/en/api/errors",
        "https://portkey.ai/error-library/input-length-error-10153",
        "https://github.com/deepset-ai/haystack-core-integrations/issues/2146",
        "https://github.com/UKGovernmentBEIS/inspect_ai/issues/3721",
        "https://platform.claude.com/docs/en/build-with-claude/structured-outputs",
        "https://platform.claude.com/docs/en/build-with-claude/pdf-support",
    ),
)
