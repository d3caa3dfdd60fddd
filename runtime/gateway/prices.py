"""What a call costs. A price that nobody told us is unknown, never zero."""

from __future__ import annotations

import functools
import re
from typing import TYPE_CHECKING, Any, NamedTuple

from .providers import PROVIDERS, litellm_file

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ...schema.host.models import Model
    from ..values.usage import Usage

PER_MTOK = 1_000_000
DECLARED: Mapping[str, str] = {
    "read": "usd_per_mtok_input",
    "cached": "usd_per_mtok_cached",
    "written": "usd_per_mtok_output",
    "stored": "usd_per_mtok_cache_write",
    "thought": "usd_per_mtok_thinking",
}
"""Where models.yaml says each price."""
BATCHING = frozenset(name for name, provider in PROVIDERS.items() if provider.batch_price)
"""The providers with a batch API that is spoken here."""
_STEP = re.compile(r"input_cost_per_token_above_(\d+)k_tokens")


class TokenPrices(NamedTuple):
    """What a model costs, in USD per token.

    Attributes:
        cached: For one that it reads from the provider's prompt cache.
        stored: For one that it reads and puts into that cache; None: as for any that it reads.
        thought: For one of thinking; None: as for any that it writes.
        steps: What all tokens of a call cost that reads more than so many, the fewest first.
    """

    read: float
    cached: float
    written: float
    stored: float | None = None
    thought: float | None = None
    steps: tuple[tuple[int, TokenPrices], ...] = ()

    def times(self, factor: float) -> TokenPrices:
        """Return prices that are as many times as high."""
        stored = None if self.stored is None else self.stored * factor
        thought = None if self.thought is None else self.thought * factor
        steps = tuple((above, rates.times(factor)) for above, rates in self.steps)
        usual = (self.read * factor, self.cached * factor, self.written * factor)
        return TokenPrices(*usual, stored, thought, steps)

    def usd(self, usage: Usage) -> float:
        """Return the price of a call in USD."""
        here = self._reached(usage.prompt_tokens)[-1]
        stored = here.read if here.stored is None else here.stored
        thought = here.written if here.thought is None else here.thought
        fresh = usage.prompt_tokens - usage.cached_tokens - usage.stored_tokens
        number = usage.completion_tokens - usage.reasoning_tokens
        read = fresh * here.read + usage.cached_tokens * here.cached + usage.stored_tokens * stored
        return read + number * here.written + usage.reasoning_tokens * thought

    def highest(self, prompt: int, completion: int) -> float:
        """Return the most in USD that a call can cost, with at most so many tokens."""
        reached = self._reached(prompt)
        read = max(max(prices.read, prices.cached, prices.stored or 0.0) for prices in reached)
        return prompt * read + completion * max(
            max(prices.written, prices.thought or 0.0) for prices in reached
        )

    def _reached(self, prompt: int) -> list[TokenPrices]:
        """Return the rates that a prompt of so many tokens passes, the last one being its own."""
        return [self, *(rates for above, rates in self.steps if prompt > above)]


def rates_of(model: Model) -> TokenPrices | None:
    """Return what a model costs; None where nobody told.

    The prices of models.yaml come first, then those of litellm's list, by the model's name.
    """
    if model.is_embedded or model.is_inbox:
        return TokenPrices(0.0, 0.0, 0.0)
    if declared := _declared(model):
        return declared
    if model.api_base is not None:
        return None
    return _as_rates(listed(model))


def batch_price_of(model: Model) -> float | None:
    """Return the part of its usual price that a call in a batch costs; None: it takes no batches.

    That of models.yaml comes first; it also declares that an own address has a batch API.
    """
    if model.batch_price is not None or model.api_base is not None:
        return model.batch_price
    provider = PROVIDERS.get(model.model.partition("/")[0])
    return None if provider is None else provider.batch_price


def is_declared(model: Model) -> bool:
    """Return whether models.yaml says what a model costs."""
    return _declared(model) is not None


def _declared(model: Model) -> TokenPrices | None:
    """Return the prices of models.yaml; None where it does not say those of reading and writing."""
    usual = {name: getattr(model, name) for name in DECLARED.values()}
    if usual[DECLARED["read"]] is None or usual[DECLARED["written"]] is None:
        return None
    steps = sorted(model.usd_steps, key=lambda step: step["above"])
    above = tuple((int(step["above"]), _of_declared({**usual, **step})) for step in steps)
    return _of_declared(usual)._replace(steps=above)


def _of_declared(usd_per_mtok: Mapping[str, float | None]) -> TokenPrices:
    """Read prices of models.yaml, those of reading and writing being among them."""

    def price(name: str) -> float | None:
        usd = usd_per_mtok[DECLARED[name]]
        return None if usd is None else usd / PER_MTOK

    read, cached, written = price("read") or 0.0, price("cached"), price("written") or 0.0
    return TokenPrices(
        read, read if cached is None else cached, written, price("stored"), price("thought")
    )


def _as_rates(rates: Mapping[str, Any]) -> TokenPrices | None:
    """Read the prices in an entry of litellm's list."""
    if tiers := rates.get("tiered_pricing"):
        first, *further = ((int(tier["range"][0]), _at(tier)) for tier in tiers if "range" in tier)
        return first[1]._replace(steps=tuple(further))
    if rates.get("input_cost_per_token") is None:
        return None
    limits = {int(result[1]) for name in rates if (result := _STEP.fullmatch(name))}
    steps = ((limit * 1000, _at(rates, f"_above_{limit}k_tokens")) for limit in sorted(limits))
    return _at(rates)._replace(steps=tuple(steps))


def _at(rates: Mapping[str, Any], step: str = "") -> TokenPrices:
    """Read one step of prices; what a step does not say is as below it."""

    def price(name: str) -> float | None:
        cost = rates.get(f"{name}{step}", rates.get(name))
        return None if cost is None else float(cost)

    read = price("input_cost_per_token") or 0.0
    cached = price("cache_read_input_token_cost")
    return TokenPrices(
        read,
        read if cached is None else cached,
        price("output_cost_per_token") or 0.0,
        price("cache_creation_input_token_cost"),
        price("output_cost_per_reasoning_token"),
    )


def listed(model: Model) -> Mapping[str, Any]:
    """Give what litellm's list says of a model, by its name; nothing where it does not know it."""
    name = model.model
    return _price_list().get(name) or _price_list().get(name.partition("/")[2]) or {}


def context_of(model: Model) -> int | None:
    """Give the most tokens that a model reads, by litellm's list; None where that does not say."""
    tokens = None if model.api_base else listed(model).get("max_input_tokens")
    return tokens if isinstance(tokens, int) and tokens > 0 else None


@functools.cache
def _price_list() -> Mapping[str, Mapping[str, Any]]:
    return litellm_file("model_prices_and_context_window_backup.json")
