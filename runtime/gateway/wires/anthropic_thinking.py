"""Thinking limits for Anthropic's models.

The newest models adapt their thinking to an effort; older ones think up to a number of tokens. Each
refuses the other form (platform.claude.com/docs/en/build-with-claude/adaptive-thinking,
platform.claude.com/docs/en/build-with-claude/effort).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..chat.fallback import LEFT_OUT, ParameterForm, unknown

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ....schema.host.models import Effort
    from ..chat.fallback import ParameterFallback
    from ..chat.messages import ChatRequest, Message
    from ..endpoint import Endpoint

ADAPTIVE: Mapping[str, Any] = {"type": "adaptive", "display": "summarized"}
LEAST_TOKENS = 1024
"""The API refuses fewer thinking tokens."""
TOKENS: Mapping[Effort, int] = {
    "minimal": LEAST_TOKENS,
    "low": 2048,
    "medium": 8192,
    "high": 16_384,
}
"""The number of tokens in place of an effort, at most half of the answer."""


def thinking(endpoint: Endpoint, request: ChatRequest) -> Mapping[str, ParameterFallback]:
    """Return the ladders of an effort and of a budget of thinking tokens."""
    effort, tokens = endpoint.thinks(request)
    may_be_counted = not _goes_on_unthinking(request.messages)
    if effort == "none":
        return {"reasoning_effort": (_form("none", {"type": "disabled"}), LEFT_OUT)}
    if effort is not None:
        most = min(TOKENS[effort], request.max_tokens // 2)
        counted = (_budget(most),) if may_be_counted and most >= LEAST_TOKENS else ()
        return {"reasoning_effort": (*_efforts(effort), *counted, LEFT_OUT)}
    if tokens is not None and may_be_counted:
        return {"thinking": (_budget(tokens), _form("adaptive", ADAPTIVE), LEFT_OUT)}
    return {}


def _efforts(effort: Effort) -> ParameterFallback:
    """Return the forms of an effort; `low` is the least available."""
    if effort == "minimal":
        return (unknown(effort), *_efforts("low"))
    fields = {"thinking": ADAPTIVE, "output_config": {"effort": effort}}
    return (ParameterForm(name=effort, place="output_config", fields=fields),)


def _budget(tokens: int) -> ParameterForm:
    return _form(f"{tokens} tokens", {"type": "enabled", "budget_tokens": tokens})


def _form(name: str, fields: Mapping[str, Any]) -> ParameterForm:
    return ParameterForm(name=name, place=f"thinking.{fields['type']}", fields={"thinking": fields})


def _goes_on_unthinking(messages: Sequence[Message]) -> bool:
    """Return whether a tool loop continues that another model began without thinking.

    With a number of thinking tokens, the continued turn must begin with thinking.
    """
    last = next((message for message in reversed(messages) if message["role"] == "assistant"), None)
    in_loop = bool(messages) and messages[-1]["role"] == "tool"
    return in_loop and last is not None and not last.get("thinking_blocks")
