"""The consumption of model calls: calls, tokens, USD."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from math import fsum
from operator import attrgetter
from typing import Annotated, Any

from ...schema.values.codec import OMITTED, Form, stored

PLACES_OF_USD = 12
IN_USD = ("usd", "uncertain_usd", "doubted_usd")
OMITTED_FIELDS = ("stored_tokens", "reasoning_tokens", "doubted_tokens", "doubted_usd")
"""Fields that a plain value omits if they are 0."""


@stored(closed=True)
class Usage:
    """The consumption of calls. Usages can be added, and subtracted down to 0 at least.

    Attributes:
        calls: Model calls that were answered, or ended in a way that may have been billed.
        cached_tokens: Prompt tokens that came from the provider's prompt cache.
        stored_tokens: Prompt tokens that were added to it, for a later call.
        reasoning_tokens: Completion tokens of thinking, if the endpoint reports them.
        usd: Price of the calls whose price is known, in USD.
        unpriced_calls: Calls whose price is unknown. Their cost is missing in `usd`, not zero.
        unmetered_calls: Calls whose endpoint reported no possible usage; their tokens are our
            estimate.
        uncertain_calls: Calls that ended without an answer but may have been billed. Their tokens
            and price are the highest possible; for a stream that ended too early, those received.
        uncertain_usd: The part of `usd` for them.
        cached_calls: Calls that our own cache answered, which cost nothing and count nowhere else.
        doubted_tokens: Tokens that endpoints did not report although their texts have them. Only
            caps count them.
        doubted_usd: USD that only caps count, because more than reported may be billed.
    """

    calls: int = 0
    prompt_tokens: int = 0
    cached_tokens: int = 0
    stored_tokens: Annotated[int, OMITTED] = 0
    completion_tokens: int = 0
    reasoning_tokens: Annotated[int, OMITTED] = 0
    usd: float = 0.0
    unpriced_calls: int = 0
    unmetered_calls: int = 0
    uncertain_calls: int = 0
    uncertain_usd: float = 0.0
    cached_calls: int = 0
    doubted_tokens: Annotated[int, OMITTED] = 0
    doubted_usd: Annotated[float, OMITTED] = 0.0

    def __post_init__(self) -> None:
        """Round USD to whole picodollars, so that sums do not depend on their order."""
        if self.usd or self.doubted_usd:  # uncertain USD are a part of the first
            for name in IN_USD:
                object.__setattr__(self, name, round(getattr(self, name), PLACES_OF_USD))

    def __add__(self, other: Usage) -> Usage:
        if other is NOTHING or self is NOTHING:
            return self if other is NOTHING else other
        sums = {**vars(self)}
        for name, count in vars(other).items():
            sums[name] = sums.get(name, ZEROS[name]) + count
        return Usage(**sums)

    def __sub__(self, part: Usage) -> Usage:
        left = {name: getattr(self, name) - getattr(part, name) for name in COUNT_NAMES}
        return Usage(**{name: max(0, item) for name, item in left.items()})

    def value(self) -> dict[str, float]:
        """Return the counts as plain values, like `to_value` but faster."""
        value: dict[str, float] = {**ZEROS, **vars(self)}
        for name in OMITTED_FIELDS:
            if not value[name]:
                del value[name]
        return value

    @property
    def tokens(self) -> int:
        """Prompt and output tokens."""
        return self.prompt_tokens + self.completion_tokens

    @property
    def cost(self) -> str:
        """The price for people: `$0.0123`, `$0.0123 + 2 unpriced calls`, `unpriced`, `free`.

        The share of calls without an answer is named: `$0.1200, of which $0.0600 for 1 call that
        ended without answer`.
        """
        if self.unpriced_calls and self.unpriced_calls == self.calls:
            return "unpriced"
        text = f"${self.usd:.4f}" if self.usd else "free"
        if self.uncertain_usd:
            calls = "1 call" if self.uncertain_calls == 1 else f"{self.uncertain_calls} calls"
            text += f", of which ${self.uncertain_usd:.4f} for {calls} that ended without an answer"
        return text + (f" + {self.unpriced_calls} unpriced calls" if self.unpriced_calls else "")


def add_usage(usage: Mapping[str, float], sums: dict[str, float]) -> None:
    """Add the counts of a usage in its plain form to sums, like `+` without a new usage."""
    for name, count in usage.items():
        sums[name] += count
    if "usd" in usage or "doubted_usd" in usage:
        for name in IN_USD:
            sums[name] = round(sums[name], PLACES_OF_USD)


def tokens_of(usage: Mapping[str, Any]) -> int:
    """Return the prompt and output tokens of a stored usage."""
    return usage["prompt_tokens"] + usage["completion_tokens"]


NOTHING = Usage()
ZEROS: dict[str, Any] = {field.name: field.default for field in fields(Usage)}
COUNT_NAMES = tuple(ZEROS)
_COUNTS = attrgetter(*COUNT_NAMES)


def total(usages: Iterable[Usage]) -> Usage:
    """Add up usages, many times faster than `sum`."""
    columns = zip(*map(_COUNTS, usages), strict=True)
    named = zip(COUNT_NAMES, columns, strict=False)  # without a usage, there are no columns
    sums: dict[str, Any] = {
        name: fsum(some) if "usd" in name else sum(some) for name, some in named
    }
    return Usage(**sums)


def _counts(usage: Usage) -> dict[str, float]:
    return {name: count for name, count in usage.value().items() if count}


COUNTED = Form(write=_counts)
"""The encoding of a usage that omits all counts of 0."""


@dataclass(frozen=True, kw_only=True, slots=True)
class BatchedAttempt:
    """An attempt of a call that is made in a batch.

    Attributes:
        number: Its number among the attempts of the call.
        deposited: Its highest cost, if an earlier process left it open; else None.
    """

    id: str
    number: str
    key: str
    deposited: Usage | None = None
