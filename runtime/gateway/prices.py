"""Prices of calls. An undeclared and unlisted price is unknown, never zero."""

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
"""The field of models.yaml for each price."""
BATCHING = frozenset(name for name, provider in PROVIDERS.items() if provider.batch_price)
"""The providers whose batch API we support."""
_STEP = re.compile(r"input_cost_per_token_above_(\d+)k_tokens")


class TokenPrices(NamedTuple):
    """A model's prices, in USD per token.

    Attributes:
        cached: For a prompt token read from the provider's prompt cache.
        stored: For a prompt token that is added to that cache; None for the usual prompt price.
        thought: For a thinking token; None for the usual output price.
        steps: Prices of all tokens of a call whose prompt exceeds a number of tokens, in ascending
            order.
    """

    read: float
    cached: float
    written: float
    stored: float | None = None
    thought: float | None = None
    steps: tuple[tuple[int, TokenPrices], ...] = ()

    def times(self, factor: float) -> TokenPrices:
        """Return prices multiplied by a factor."""
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
        """Return the highest price in USD of a call with at most these numbers of tokens."""
        reached = self._reached(prompt)
        read = max(max(prices.read, prices.cached, prices.stored or 0.0) for prices in reached)
        return prompt * read + completion * max(
            max(prices.written, prices.thought or 0.0) for prices in reached
        )

    def _reached(self, prompt: int) -> list[TokenPrices]:
        """Return the steps that a prompt of this length reaches; the last one is its own."""
        return [self, *(rates for above, rates in self.steps if prompt > above)]


def rates_of(model: Model) -> TokenPrices | None:
    """Return a model's prices; None if unknown.

    Prices in models.yaml take precedence over litellm's list, which is searched by the model's
    name.
    """
    if model.is_embedded or model.is_inbox:
        return TokenPrices(0.0, 0.0, 0.0)
    if declared := _declared(model):
        return declared
    if model.api_base is not None:
        return None
    return _as_rates(listed(model))


def batch_price_of(model: Model) -> float | None:
    """Return the share of the usual price that batch calls cost; None without a batch API.

    The value in models.yaml takes precedence; it also declares that a custom address has a batch
    API.
    """
    if model.batch_price is not None or model.api_base is not None:
        return model.batch_price
    provider = PROVIDERS.get(model.model.partition("/")[0])
    return None if provider is None else provider.batch_price


def is_declared(model: Model) -> bool:
    """Return whether models.yaml declares a model's prices."""
    return _declared(model) is not None


def _declared(model: Model) -> TokenPrices | None:
    """Return the prices in models.yaml; None if it lacks the prompt or the output price."""
    usual = {name: getattr(model, name) for name in DECLARED.values()}
    if usual[DECLARED["read"]] is None or usual[DECLARED["written"]] is None:
        return None
    steps = sorted(model.usd_steps, key=lambda step: step["above"])
    above = tuple((int(step["above"]), _of_declared({**usual, **step})) for step in steps)
    return _of_declared(usual)._replace(steps=above)


def _of_declared(usd_per_mtok: Mapping[str, float | None]) -> TokenPrices:
    """Convert prices of models.yaml, which include those of prompt and output tokens."""

    def price(name: str) -> float | None:
        usd = usd_per_mtok[DECLARED[name]]
        return None if usd is None else usd / PER_MTOK

    read, cached, written = price("read") or 0.0, price("cached"), price("written") or 0.0
    return TokenPrices(
        read, read if cached is None else cached, written, price("stored"), price("thought")
    )


def _as_rates(rates: Mapping[str, Any]) -> TokenPrices | None:
    """Convert the prices in an entry of litellm's list."""
    if tiers := rates.get("tiered_pricing"):
        first, *further = ((int(tier["range"][0]), _at(tier)) for tier in tiers if "range" in tier)
        return first[1]._replace(steps=tuple(further))
    if rates.get("input_cost_per_token") is None:
        return None
    limits = {int(result[1]) for name in rates if (result := _STEP.fullmatch(name))}
    steps = ((limit * 1000, _at(rates, f"_above_{limit}k_tokens")) for limit in sorted(limits))
    return _at(rates)._replace(steps=tuple(steps))


def _at(rates: Mapping[str, Any], step: str = "") -> TokenPrices:
    """Convert one step of prices; a step inherits missing prices from the base."""

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
    """Return the entry for a model in litellm's list, by its name; empty if unknown."""
    name = model.model
    return _price_list().get(name) or _price_list().get(name.partition("/")[2]) or {}


def context_of(model: Model) -> int | None:
    """Return a model's context length in tokens from litellm's list; None if unknown."""
    tokens = None if model.api_base else listed(model).get("max_input_tokens")
    return tokens if isinstance(tokens, int) and tokens > 0 else None


@functools.cache
def _price_list() -> Mapping[str, Mapping[str, Any]]:
    return litellm_file("model_prices_and_context_window_backup.json")
