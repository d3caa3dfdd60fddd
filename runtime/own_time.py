"""A limit on how long something works, which leaves out how long it waits for others."""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from contextlib import AbstractAsyncContextManager, AbstractContextManager

__all__ = ["OwnTime"]


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
        self._scope: asyncio.Timeout | None = None

    def bounded(self) -> AbstractAsyncContextManager[None]:
        """Cancel the body when the limit is reached.

        Raises:
            TimeoutError: It was.
        """
        return _UNBOUNDED if self._limit is None else _Bounded(self)

    @property
    def spent(self) -> float:
        """Seconds of work until now."""
        running = asyncio.get_running_loop().time() - self._since if self._workers > 0 else 0.0
        return self._used + running

    def at_work(self) -> AbstractContextManager[None]:
        """Count the body as work."""
        return _Counted(self, 1)

    def waiting(self) -> AbstractContextManager[None]:
        """Count the body as waiting, in the middle of work."""
        return _Counted(self, -1)

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
        if self._limit is not None and self._scope is not None and not self._scope.expired():
            self._scope.reschedule(now + self._limit - self._used if works else None)
        if self._whole is not None:
            self._whole._change(1 if works else -1)


class _Bounded:
    """A body that is cancelled at a limit. Entered for each agent, so it is no generator."""

    __slots__ = ("_scope", "_time")

    def __init__(self, time: OwnTime) -> None:
        self._time = time

    async def __aenter__(self) -> None:
        self._scope = self._time._scope = asyncio.timeout(None)  # pyright: ignore[reportPrivateUsage]
        await self._scope.__aenter__()

    async def __aexit__(self, *raised: Any) -> None:
        self._time._scope = None  # pyright: ignore[reportPrivateUsage]
        await self._scope.__aexit__(*raised)


_UNBOUNDED = contextlib.nullcontext()


class _Counted:
    """A body that counts as work, or as none. Entered for each call, so it is no generator."""

    __slots__ = ("_by", "_time")

    def __init__(self, time: OwnTime, by: int) -> None:
        self._time, self._by = time, by

    def __enter__(self) -> None:
        self._time._change(self._by)  # pyright: ignore[reportPrivateUsage]

    def __exit__(self, *_: object) -> None:
        self._time._change(-self._by)  # pyright: ignore[reportPrivateUsage]
