"""The usage that a response reports, in the many shapes that providers use.

Each shape is a test case, with its documentation or the place where it was observed.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple, cast

from ....schema.values.values import is_mapping
from ...values.usage import Usage

MOST_TOKENS = 100_000_000
"""The most tokens of one call. A higher count is a mistake."""
MOST_USD = 100_000.0
TICKS_PER_USD = 10**10
"""xAI's unit of money (github.com/Wei-Shaw/sub2api/issues/5771, 2026-08-18)."""

CACHED = ("cached_tokens", "prompt_cache_hit_tokens", "cache_read_input_tokens")
STORED = ("cache_write_tokens", "cache_creation_tokens", "cache_creation_input_tokens")


class ReportedUsage(NamedTuple):
    """The reported usage of one call.

    Attributes:
        usage: Its tokens. Not metered if the counts are missing or impossible.
        usd: The cost in USD that the provider reports; None if it does not.
    """

    usage: Usage
    usd: float | None


def consumed(body: Mapping[str, Any], *, answered: bool) -> ReportedUsage:
    """Read the usage that a response reports; impossible counts are ignored.

    Args:
        body: The response in the chat API's form.
    """
    fields = _counts_in(body)
    prompt = _count(fields.get("prompt_tokens"), at_least=1)
    reasoning = _reasoning(fields)
    completion = _written(fields, prompt, reasoning)
    cached, stored = _of_prompt(fields, CACHED), _of_prompt(fields, STORED)
    possible = (
        prompt is not None
        and completion is not None
        and completion >= int(answered)
        and cached is not None
        and stored is not None
        and cached + stored <= prompt
    )
    usage = Usage(
        calls=1,
        prompt_tokens=prompt or 0,
        cached_tokens=(cached or 0) if possible else 0,
        stored_tokens=(stored or 0) if possible else 0,
        completion_tokens=completion or 0,
        reasoning_tokens=min(reasoning, completion or 0) if possible else 0,
        unmetered_calls=int(not possible),
    )
    return ReportedUsage(usage, _usd(fields))


def _counts_in(body: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the token counts: from `usage`, Groq's field, or llama.cpp's timings."""
    if usage := _mapping(body, "usage"):
        return usage
    if usage := _mapping(_mapping(body, "x_groq"), "usage"):
        return usage
    timings = _mapping(body, "timings")
    read, again = _count(timings.get("prompt_n")), _count(timings.get("cache_n") or 0)
    if read is None or again is None:
        return {}
    return {
        "prompt_tokens": read + again,
        "completion_tokens": timings.get("predicted_n"),
        "cached_tokens": again,
    }


def _written(reported: Mapping[str, Any], prompt: int | None, reasoning: int) -> int | None:
    """Return the output tokens, including thinking tokens that some count only in the total."""
    completion = _count(reported.get("completion_tokens"))
    if completion is None or prompt is None:
        return completion
    total = _count(reported.get("total_tokens"))
    if total is not None and total > prompt + completion:
        return total - prompt
    return completion + reasoning if reasoning > completion else completion


def _reasoning(reported: Mapping[str, Any]) -> int:
    details = _mapping(reported, "completion_tokens_details")
    return _count(details.get("reasoning_tokens")) or _count(reported.get("reasoning_tokens")) or 0


def _of_prompt(reported: Mapping[str, Any], names: tuple[str, ...]) -> int | None:
    """Return a part of the prompt tokens, from the first present name; None if impossible."""
    details = _mapping(reported, "prompt_tokens_details")
    for name in names:
        if value := details.get(name) or reported.get(name):
            return _count(value)
    return 0


def _usd(reported: Mapping[str, Any]) -> float | None:
    """Return the cost that the provider reports; None if missing or impossible."""
    usd = _cost_in(reported)
    return usd if usd is None or usd <= MOST_USD else None


def _cost_in(reported: Mapping[str, Any]) -> float | None:
    """Read a cost: in USD, as a table with a total, or in xAI's ticks.

    OpenRouter reports its own fee and, if the user's key was used upstream, that cost too.
    """
    ticks = _amount(reported.get("cost_in_usd_ticks"))
    if ticks is not None:
        return ticks / TICKS_PER_USD
    cost: Any = reported.get("cost")
    if is_mapping(cost):
        cost = cost.get("total_cost")
    usd = _amount(reported.get("estimated_cost") if cost is None else cost)
    if usd is not None and reported.get("is_byok") is True:
        usd += _amount(_mapping(reported, "cost_details").get("upstream_inference_cost")) or 0.0
    return usd


def _mapping(value: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    inner = value.get(name)
    return cast("Mapping[str, Any]", inner) if is_mapping(inner) else {}


def _count(value: Any, *, at_least: int = 0) -> int | None:
    fits = isinstance(value, int) and not isinstance(value, bool)
    return value if fits and at_least <= value <= MOST_TOKENS else None


def _amount(value: Any) -> float | None:
    fits = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if fits and 0 <= value < math.inf else None
