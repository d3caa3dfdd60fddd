"""What a call costs. A price that nobody told us is unknown, never zero."""

from __future__ import annotations

import functools
import importlib.util
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ...schema.models import Model

__all__ = ["price"]

PER_MTOK = 1_000_000
PRICE_LIST = "model_prices_and_context_window_backup.json"


def price(model: Model, prompt: int, cached: int, completion: int) -> float | None:
    """Give the price of a call in USD, or None where it is unknown.

    Args:
        model: The model with the prices of models.yaml, which come first.
        prompt: Tokens read, cached ones included.
        cached: Tokens read from the provider's prompt cache.
        completion: Tokens written.
    """
    rates = _rates(model)
    if rates is None:
        return None
    read, read_cached, written = rates
    return (prompt - cached) * read + cached * read_cached + completion * written


def _rates(model: Model) -> tuple[float, float, float] | None:
    """Give the USD per token for reading, reading from the cache, and writing."""
    if model.is_embedded:
        return (0.0, 0.0, 0.0)
    read, written = model.usd_per_mtok_input, model.usd_per_mtok_output
    if read is not None and written is not None:
        cached = read if model.usd_per_mtok_cached is None else model.usd_per_mtok_cached
        return (read / PER_MTOK, cached / PER_MTOK, written / PER_MTOK)
    if model.api_base is not None:
        return None
    listed = _price_list().get(model.model) or _price_list().get(model.model.partition("/")[2])
    if not listed or "input_cost_per_token" not in listed:
        return None
    read = float(listed["input_cost_per_token"])
    cached = float(listed.get("cache_read_input_token_cost", read))
    return (read, cached, float(listed.get("output_cost_per_token", 0.0)))


@functools.cache
def _price_list() -> Mapping[str, Mapping[str, Any]]:
    """Read litellm's list of prices from its file: importing litellm would take seconds."""
    spec = importlib.util.find_spec("litellm")
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        path = Path(folder) / PRICE_LIST
        if path.is_file():
            return json.loads(path.read_text(encoding="utf-8"))
    return {}
