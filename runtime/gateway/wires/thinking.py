"""Thinking limits in the chat API.

OpenAI has `reasoning_effort`, and most others accept it. Endpoints with another form are recognized
by their address:

* OpenRouter: https://openrouter.ai/docs/use-cases/reasoning-tokens
* Gemini: https://ai.google.dev/gemini-api/docs/openai
* Anthropic: https://platform.claude.com/docs/en/api/openai-sdk
* Qwen: https://www.alibabacloud.com/help/en/model-studio/deep-thinking
* vLLM: https://docs.vllm.ai/en/latest/features/reasoning_outputs.html
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from ....schema.host.models import EFFORTS
from ..chat.fallback import LEFT_OUT, ParameterForm, unknown

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ....schema.host.models import Effort
    from ..chat.fallback import ParameterFallback
    from ..chat.messages import ChatRequest
    from ..endpoint import Endpoint


def thinking(endpoint: Endpoint, request: ChatRequest) -> Mapping[str, ParameterFallback]:
    """Return the ladders of an effort and of a budget of thinking tokens."""
    effort, tokens = endpoint.thinks(request)
    if endpoint.kind == "local":
        needless = effort == "none" and endpoint.weights is None  # the built-in does not think
        if effort is None or needless:
            return {}
        return {"reasoning_effort": (unknown(effort), LEFT_OUT)}
    efforts = tuple(_effort(endpoint, item) for item in nearest(effort))
    off = (_effort(endpoint, "none"),) if effort != "none" else ()
    ladders: dict[str, ParameterFallback] = {"reasoning_effort": (*efforts, LEFT_OUT, *off)}
    if tokens is not None:
        budget = ParameterForm(
            name="thinking_tokens", place="thinking", fields=_budget(endpoint, tokens)
        )
        ladders["thinking"] = (budget, LEFT_OUT)
    return ladders


def nearest(effort: Effort | None) -> tuple[Effort, ...]:
    """Return the efforts that may replace one, the nearest first and the lower of two equally near.

    No thinking at all replaces no other effort: it would be a different way to answer.
    """
    if effort is None:
        return ()
    others: list[Effort] = [item for item in EFFORTS if item not in {"none", effort}]
    here = EFFORTS.index(effort)
    others.sort(key=lambda item: abs(EFFORTS.index(item) - here))
    return (effort, *others)


def _effort(endpoint: Endpoint, effort: Effort) -> ParameterForm:
    place = "reasoning_effort"
    fields: Mapping[str, Any] = {place: effort}
    if _is_at(endpoint, "openrouter.ai"):
        fields = {"reasoning": {"effort": effort}}
    return ParameterForm(name=effort, place=place, fields=fields)


def _budget(endpoint: Endpoint, tokens: int) -> Mapping[str, Any]:
    if _is_at(endpoint, "openrouter.ai"):
        return {"reasoning": {"max_tokens": tokens}}
    if _is_at(endpoint, "generativelanguage.googleapis.com"):
        return {"extra_body": {"google": {"thinking_config": {"thinking_budget": tokens}}}}
    if _is_at(endpoint, "aliyuncs.com"):
        return {"enable_thinking": True, "thinking_budget": tokens}
    return {"thinking": {"type": "enabled", "budget_tokens": tokens}}


def _is_at(endpoint: Endpoint, domain: str) -> bool:
    host = urlsplit(endpoint.api_base).hostname or ""
    return host == domain or host.endswith(f".{domain}")
