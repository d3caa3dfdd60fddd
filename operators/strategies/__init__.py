"""Strategies: loops that say which operator acts when, one screen each; found by entry point."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...schema._shape import did_you_mean
from ...schema.catalogue import installed, load_named
from ...schema.errors import InputError

if TYPE_CHECKING:
    from ..stage import Strategy

__all__ = ["strategy_of"]


def strategy_of(name: str) -> Strategy:
    """Find a strategy by the name that recipes write.

    Raises:
        InputError: No installed package gives it, or it cannot be imported.
    """
    known = installed("strategies")
    if name not in known:
        hint = did_you_mean(name, known) or f" Known: {', '.join(sorted(known))}."
        raise InputError(f"no strategy {name!r}.{hint}")
    return load_named("strategies", name)
