"""xAI: what was thought is not counted in `completion_tokens`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .chat_form import with_reasoning_content
from .provider import Limit, Provider, Speech
from .rules import tool_messages_follow
from .said import Refusal
from .sees import Sees

if TYPE_CHECKING:
    from .said import Bill


def xai_error(refusal: Refusal) -> dict[str, Any]:
    """Write it as xAI: https://github.com/yym68686/uni-api/issues/105."""
    return {"code": refusal.kind, "error": refusal.message}


def xai_bill(bill: Bill) -> dict[str, Any]:
    """Write it as xAI: thinking is not a part of `completion_tokens`, but is of the total.

    https://github.com/Wei-Shaw/sub2api/issues/5771; the price in 10^-10 USD:
    https://docs.x.ai/developers/cost-tracking.md.
    """
    return {
        "prompt_tokens": bill.prompt,
        "completion_tokens": bill.text,
        "total_tokens": bill.total,
        "prompt_tokens_details": {"text_tokens": bill.prompt, "cached_tokens": bill.cached},
        "completion_tokens_details": {"reasoning_tokens": bill.thinking},
        "cost_in_usd_ticks": bill.ticks,
    }


XAI = Provider(
    name="xAI",
    model="grok-4.5",
    choice="xai/grok-4.5",
    variables={"XAI_API_BASE": "{origin}/v1", "XAI_API_KEY": "{key}"},
    speaks={
        "/v1/chat/completions": Speech(
            message=with_reasoning_content,
            limits=tuple(
                Limit(
                    parameter=parameter,
                    refusal=Refusal(
                        status=400,
                        message=f"Argument not supported on this model: {name}",
                        kind="Client specified an invalid argument",
                    ),
                )
                for parameter, name in (
                    ("stop", "stop"),
                    ("presence_penalty", "presencePenalty"),
                    ("frequency_penalty", "frequencyPenalty"),
                )
            ),
            rules=(tool_messages_follow,),
            sees=Sees(parts={"image_url": "image"}),
            usage=xai_bill,
            refuses=Refusal(
                status=403,
                message="Content violates usage guidelines. Failed check: SAFETY_CHECK_TYPE_BIO",
                kind="permission-denied",
            ),
            whole_calls=True,
            usage_unasked=True,
        )
    },
    envelope=xai_error,
    reports_cost=True,
    wrong_key=Refusal(
        status=400,
        message=(
            "Incorrect API key provided. You can obtain an API key from https://console.x.ai."
        ),
        kind="Client specified an invalid argument",
    ),
    unknown_model=Refusal(
        status=404,
        message=(
            "The model {model} does not exist or your team 0 does not have access to it. Please"
            " ensure you're using the correct API key. If you believe this is a mistake, please"
            " reach out to support and quote your team ID and the model name."
        ),
        kind="Some requested entity was not found",
    ),
    overflow=Refusal(
        status=400,
        message=(
            "This model's maximum prompt length is {most} but the request contains {size} tokens."
        ),
        kind="Client specified an invalid argument",
    ),
    busy=Refusal(
        status=429,
        message="Too many requests for team 0 and model grok-4.5. Your team's rate limit is 3.",
        kind="Some resource has been exhausted",
        headers={"retry-after": "1"},
        wait=1,
    ),
    sources=(
        "https://docs.x.ai/docs/guides/image-understanding",
        "https://github.com/Wei-Shaw/sub2api/issues/5771",
        "https://docs.x.ai/developers/cost-tracking.md",
        "https://github.com/yym68686/uni-api/issues/105",
        "https://github.com/continuedev/continue/issues/10778",
        "https://github.com/chenyme/grok2api/issues/693",
    ),
)
