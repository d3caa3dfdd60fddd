"""Work side by side: parts of one thing, or many things of which so many are at work at once."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Iterable
from typing import Any, TypeVar

from ...schema.values.errors import LimitError, RunError

Result = TypeVar("Result")
Key = TypeVar("Key")


async def together(*parts: Coroutine[Any, Any, Result]) -> list[Result]:
    """Do parts side by side, all to their end: one that fails must not cost what others paid for.

    Raises:
        BaseException: What the first of them raised.
    """
    result: list[Result] = []
    for item in await asyncio.gather(*parts, return_exceptions=True):
        if isinstance(item, BaseException):
            raise item
        result.append(item)
    return result


async def by_workers(
    keys: Iterable[Key], make: Callable[[Key], Awaitable[None]], workers: int
) -> None:
    """Make one thing after the other, so many at once, until a limit or a provider stops it.

    Nothing is begun after that, and what is at work is brought to its end: it is paid for.

    Args:
        keys: What is to be made, in the order in which it is begun.
        workers: How many are at work at once.

    Raises:
        LimitError: The first thing that was stopped by a limit, if that came first.
        RunError: The same for a failure of a provider or a jail.
        CoterieError: Whatever else `make` raises; then the others are cancelled.
    """
    left, stopped = iter(keys), list[LimitError | RunError]()

    async def work() -> None:
        for key in left:
            if stopped:
                return
            try:
                await make(key)
            except (LimitError, RunError) as error:
                stopped.append(error)

    tasks = [asyncio.create_task(work()) for _ in range(workers)]
    try:
        await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    if stopped:
        raise stopped[0]
