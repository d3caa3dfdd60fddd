"""Mistral: thinking comes in parts of the content, and nothing unknown may be sent."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .chat_form import plain_bill
from .provider import Provider, Speech
from .rules import nine_letter_ids, only_fields, only_options, tool_messages_follow
from .said import Refusal, names

if TYPE_CHECKING:
    from .said import Said

EXTRA = "Extra inputs are not permitted"


def mistral_error(refusal: Refusal) -> dict[str, Any]:
    """Write it as Mistral, where a field at fault is told by its place.

    https://github.com/openai/openai-agents-python/issues/442.
    """
    if refusal.status == 401:
        return {"detail": refusal.message}
    message: Any = refusal.message
    if refusal.status == 422:
        place = ["body", *(refusal.param or "").split(".")]
        message = {"detail": [{"type": "extra_forbidden", "loc": place, "msg": EXTRA}]}
    return {
        "object": "error",
        "message": message,
        "type": refusal.kind,
        "param": None,
        "code": refusal.code,
    }


def with_thinking_part(message: dict[str, Any], answer: Said) -> dict[str, Any]:
    """Put what was thought before the text, as https://docs.mistral.ai/capabilities/reasoning."""
    if not answer.thinking:
        return message
    thought = {"type": "thinking", "thinking": [{"type": "text", "text": answer.thinking}]}
    records = [{"type": "text", "text": answer.text}] if answer.text else []
    return message | {"content": [thought, *records]}


MISTRAL = Provider(
    name="Mistral",
    model="magistral-medium-latest",
    choice="mistral/magistral-medium-latest",
    variables={"MISTRAL_API_BASE": "{origin}/v1", "MISTRAL_API_KEY": "{key}"},
    speaks={
        "/v1/chat/completions": Speech(
            accepts=names(
                """
                frequency_penalty guardrails max_tokens messages metadata model n
                parallel_tool_calls prediction presence_penalty prompt_mode random_seed
                reasoning_effort response_format safe_prompt stop stream stream_options
                temperature tool_choice tools top_p
                """
            ),
            unknown=Refusal(status=422, message=EXTRA, param="{parameter}"),
            message=with_thinking_part,
            rules=(
                only_options(
                    Refusal(status=422, message=EXTRA, param="stream_options.{option}"),
                    "stream_options",
                ),
                only_fields(
                    Refusal(status=422, message=EXTRA, param="messages.{index}.assistant.{field}"),
                    "role",
                    "content",
                    "tool_calls",
                    "prefix",
                ),
                nine_letter_ids(
                    Refusal(
                        status=400,
                        message=(
                            "Tool call id was {id} but must be a-z, A-Z, 0-9, with a length of 9."
                        ),
                        kind="invalid_function_call",
                        code="3280",
                    )
                ),
                tool_messages_follow,
            ),
            usage=plain_bill,
            caches=False,
            whole_calls=True,
            usage_unasked=True,
        )
    },
    envelope=mistral_error,
    wrong_key=Refusal(status=401, message="Unauthorized"),
    unknown_model=Refusal(
        status=400, message="Invalid model: {model}", kind="invalid_model", code="1500"
    ),
    overflow=Refusal(
        status=400,
        message=(
            "Prompt contains {size} tokens and 0 draft tokens, too large for model with {most}"
            " maximum context length"
        ),
        kind="invalid_request_invalid_args",
        code="3051",
    ),
    busy=Refusal(status=429, message="Rate limit exceeded", kind="rate_limited", code="1300"),
    sources=(
        "https://docs.mistral.ai/api/endpoint/chat",
        "https://docs.mistral.ai/capabilities/reasoning",
        "https://github.com/openai/openai-agents-python/issues/442",
        "https://github.com/charmbracelet/crush/issues/1590",
        "https://github.com/cline/cline/issues/9085",
    ),
)
