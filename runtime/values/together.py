"""Concurrent work: parts of one thing, or many things by a number of workers."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Iterable
from typing import Any, TypeVar

from ...schema.values.errors import LimitError, RunError

Result = TypeVar("Result")
Key = TypeVar("Key")


async def together(*parts: Coroutine[Any, Any, Result]) -> list[Result]:
    """Run all parts concurrently to their end: a failure must not waste the others' cost.

    Raises:
        BaseException: The exception of the first part that failed, in the given order.
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
    """Make things in order, `workers` at a time, until a limit or a provider stops it.

    After that, nothing more begins, and running work is completed: it is paid for.

    Raises:
        LimitError: The first thing stopped by a limit, if that came first.
        RunError: The same for a failure of a provider or a jail.
        CoterieError: Any other error of `make`; the others are then cancelled.
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
