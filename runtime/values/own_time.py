"""A limit on an agent's working time, without the time that it waits for others."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import (
    AbstractAsyncContextManager,
    AbstractContextManager,
    asynccontextmanager,
    nullcontext,
)


class OwnTime:
    """Working time, with a limit: a clock that stops while all workers wait.

    Args:
        limit: Seconds of work; None for no limit.
        whole: The working time of a larger whole, which runs while any of its parts works.
    """

    def __init__(self, limit: float | None = None, *, whole: OwnTime | None = None) -> None:
        self._limit = limit
        self._whole = whole
        self._workers = 0
        self._used = 0.0
        self._since = 0.0
        self._looks: dict[asyncio.Timeout, asyncio.TimerHandle | None] = {}

    def bounded(self) -> AbstractAsyncContextManager[None]:
        """Cancel the body when the limit is reached."""
        return nullcontext() if self._limit is None else self._bounded()

    @asynccontextmanager
    async def _bounded(self) -> AsyncGenerator[None]:
        async with asyncio.timeout(None) as scope:
            self._look(scope)
            try:
                yield
            finally:
                if (look := self._looks.pop(scope, None)) is not None:
                    look.cancel()

    def _look(self, scope: asyncio.Timeout) -> None:
        """End a body if the limit is reached; otherwise look again when it may be, at the earliest.

        Each wait for a model only makes the next look too early: none needs a timer of its own.
        While all workers wait, nothing can change, so the next look is when work goes on.
        """
        if self._workers == 0 or self._limit is None:
            self._looks[scope] = None
            return
        loop, left = asyncio.get_running_loop(), self._limit - self.spent
        if left > 0:
            self._looks[scope] = loop.call_later(left, self._look, scope)
        else:
            self._looks.pop(scope, None)
            scope.reschedule(loop.time())

    @property
    def spent(self) -> float:
        """Seconds of work so far."""
        running = asyncio.get_running_loop().time() - self._since if self._workers > 0 else 0.0
        return self._used + running

    def at_work(self) -> AbstractContextManager[None]:
        """Count the body as work."""
        return _Shift(self.change, 1)

    def waiting(self) -> AbstractContextManager[None]:
        """Count the body as waiting, in the middle of work."""
        return _Shift(self.change, -1)

    def change(self, by: int) -> None:
        """Change the number of parts at work."""
        worked = self._workers > 0
        self._workers += by
        works = self._workers > 0
        if works == worked:
            return
        now = asyncio.get_running_loop().time()
        if works:
            self._since = now
            for scope, look in [*self._looks.items()]:
                if look is None:
                    self._look(scope)
        else:
            self._used += now - self._since
        if self._whole is not None:
            self._whole.change(1 if works else -1)


class _Shift(AbstractContextManager[None]):
    """Counts a body. Every model call uses some, so it is faster than a generator."""

    __slots__ = ("_by", "_change")

    def __init__(self, change: Callable[[int], None], by: int) -> None:
        self._change, self._by = change, by

    def __enter__(self) -> None:
        self._change(self._by)

    def __exit__(self, *_: object) -> None:
        self._change(-self._by)
