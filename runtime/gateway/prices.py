"""What a call costs. A price that nobody told us is unknown, never zero."""

from __future__ import annotations

import functools
import importlib.util
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ...schema.models import Model

__all__ = ["Rates", "rates_of"]

PER_MTOK = 1_000_000
PRICE_LIST = "model_prices_and_context_window_backup.json"


class Rates(NamedTuple):
    """What a model costs, in USD per token.

    Attributes:
        read: For a token that it reads.
        cached: For one that it reads from the provider's prompt cache.
        written: For one that it writes.
    """

    read: float
    cached: float
    written: float

    def usd(self, prompt: int, cached: int, completion: int) -> float:
        """Give the price of a call in USD.

        Args:
            prompt: Tokens read, cached ones included.
            cached: Tokens read from the provider's prompt cache.
            completion: Tokens written.
        """
        return (prompt - cached) * self.read + cached * self.cached + completion * self.written

    def highest(self, prompt: int, completion: int) -> float:
        """Give the most that so many tokens can cost in USD."""
        return prompt * max(self.read, self.cached) + completion * self.written


def rates_of(model: Model) -> Rates | None:
    """Give what a model costs; None where nobody told.

    The prices of models.yaml come first, then those of litellm's list, by the model's name.
    """
    if model.is_embedded:
        return Rates(0.0, 0.0, 0.0)
    read, written = model.usd_per_mtok_input, model.usd_per_mtok_output
    if read is not None and written is not None:
        cached = read if model.usd_per_mtok_cached is None else model.usd_per_mtok_cached
        return Rates(read / PER_MTOK, cached / PER_MTOK, written / PER_MTOK)
    if model.api_base is not None:
        return None
    listed = _price_list().get(model.model) or _price_list().get(model.model.partition("/")[2])
    if not listed or "input_cost_per_token" not in listed:
        return None
    read = float(listed["input_cost_per_token"])
    cached = float(listed.get("cache_read_input_token_cost", read))
    return Rates(read, cached, float(listed.get("output_cost_per_token", 0.0)))


@functools.cache
def _price_list() -> Mapping[str, Mapping[str, Any]]:
    """Read litellm's list of prices from its file: importing litellm would take seconds."""
    spec = importlib.util.find_spec("litellm")
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        path = Path(folder) / PRICE_LIST
        if path.is_file():
            return json.loads(path.read_text(encoding="utf-8"))
    return {}
