"""A limit on how long something works, which leaves out how long it waits for others."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager


class OwnTime:
    """The time that someone works, with a limit: a clock that stands still while all wait.

    Args:
        limit: Seconds of work; None for no limit.
        whole: The time of what this is a part of. It goes on while some part of it works.
    """

    def __init__(self, limit: float | None = None, *, whole: OwnTime | None = None) -> None:
        self._limit = limit
        self._whole = whole
        self._workers = 0
        self._used = 0.0
        self._since = 0.0
        self._scopes: set[asyncio.Timeout] = set()

    @asynccontextmanager
    async def bounded(self) -> AsyncGenerator[None]:
        """Cancel the body when the limit is reached."""
        async with asyncio.timeout(None) as scope:
            self._scopes.add(scope)
            self._bound(scope)
            try:
                yield
            finally:
                self._scopes.remove(scope)

    def _bound(self, scope: asyncio.Timeout) -> None:
        """Have a body end when the limit is reached, if work goes on as it does now."""
        if self._limit is not None and not scope.expired():
            end = self._since + self._limit - self._used
            scope.reschedule(end if self._workers > 0 else None)

    @property
    def spent(self) -> float:
        """Seconds of work until now."""
        running = asyncio.get_running_loop().time() - self._since if self._workers > 0 else 0.0
        return self._used + running

    @contextmanager
    def at_work(self) -> Generator[None]:
        """Count the body as work."""
        self._change(1)
        try:
            yield
        finally:
            self._change(-1)

    @contextmanager
    def waiting(self) -> Generator[None]:
        """Count the body as waiting, in the middle of work."""
        self._change(-1)
        try:
            yield
        finally:
            self._change(1)

    def _change(self, by: int) -> None:
        worked = self._workers > 0
        self._workers += by
        works = self._workers > 0
        if works == worked:
            return
        now = asyncio.get_running_loop().time()
        if works:
            self._since = now
        else:
            self._used += now - self._since
        for scope in self._scopes:
            self._bound(scope)
        if self._whole is not None:
            self._whole._change(1 if works else -1)
