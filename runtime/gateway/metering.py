"""What a call consumed, whatever the endpoint says."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..usage import Usage
    from .chat import ChatAnswer
    from .prices import Rates

__all__ = ["metered", "tokens_in"]

BYTES_PER_TOKEN = 2
"""Half of what is usual: an estimate must not be too low."""


def tokens_in(content: bytes) -> int:
    """Estimate the tokens of a text, rather too many than too few."""
    return -(-len(content) // BYTES_PER_TOKEN)


def metered(answer: ChatAnswer, prompt: int, rates: Rates | None) -> Usage:
    """Give an answer's usage and price; what the endpoint did not tell is estimated.

    Args:
        answer: What the endpoint said.
        prompt: Our estimate of the tokens that it read.
        rates: What the model costs.
    """
    usage, told = answer.usage, not answer.usage.unmetered_calls
    if not told:
        usage = _estimated(answer, prompt)
    if rates is None:
        return replace(usage, unpriced_calls=1)
    if told:
        usd = rates.usd(usage.prompt_tokens, usage.cached_tokens, usage.completion_tokens)
    else:
        usd = rates.highest(usage.prompt_tokens, usage.completion_tokens)
    return replace(usage, usd=usd)


def _estimated(answer: ChatAnswer, prompt: int) -> Usage:
    told = answer.usage
    written = answer.text + "".join(call.name + call.arguments for call in answer.tool_calls)
    return replace(
        told,
        prompt_tokens=max(told.prompt_tokens, prompt),
        completion_tokens=max(told.completion_tokens, tokens_in(written.encode())),
    )
