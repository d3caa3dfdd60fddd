"""Work side by side, all of it to its end."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Coroutine

__all__ = ["together"]

Came = TypeVar("Came")


async def together(*parts: Coroutine[Any, Any, Came]) -> list[Came]:
    """Do parts side by side, all to their end: one that fails must not cost what others paid for.

    Raises:
        BaseException: What the first of them raised.
    """
    came: list[Came] = []
    for one in await asyncio.gather(*parts, return_exceptions=True):
        if isinstance(one, BaseException):
            raise one
        came.append(one)
    return came
