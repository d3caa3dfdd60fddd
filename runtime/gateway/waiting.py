"""How long to wait for an answer: while the endpoint sends, and the caller's patience lasts."""

from __future__ import annotations

import asyncio
import math
from dataclasses import dataclass, field
from types import TracebackType
from typing import Self

from .chat.errors import CallError

KEPT_ALIVE = 10
"""Timeouts for which an endpoint may send nothing but keep-alives, as while its model thinks."""


@dataclass(kw_only=True, eq=False)
class Waiting:
    """Bounds the time of one request. An async context manager.

    Attributes:
        limit: Seconds without a byte after which the endpoint has failed. Without streaming, the
            first byte is that of the answer, so this bounds the time of the whole answer.
        patience: Seconds after which the request ends in any case; None for no such limit.
    """

    limit: float
    patience: float | None
    source: str
    _loop: asyncio.AbstractEventLoop = field(init=False)
    _timer: asyncio.Timeout = field(init=False)
    _alarm: asyncio.TimerHandle = field(init=False)
    _until: float = field(init=False)
    _latest: float = field(init=False)
    _went_on: float = field(init=False)
    _began: bool = False
    _is_over: bool = False

    async def __aenter__(self) -> Self:
        self._loop = asyncio.get_running_loop()
        now = self._went_on = self._loop.time()
        self._latest = math.inf if self.patience is None else now + self.patience
        self._until = min(now + self.limit, self._latest)
        self._timer = asyncio.timeout(None)
        await self._timer.__aenter__()
        self._alarm = self._loop.call_at(self._until, self._end_if_late)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._alarm.cancel()
        try:
            await self._timer.__aexit__(kind, error, traceback)
        except TimeoutError:
            raise self._too_late() from None

    def go_on(self, went_on: bool) -> None:
        """Extend the wait after receiving something.

        Args:
            went_on: Whether it was a part of the answer rather than a keep-alive.
        """
        if self._is_over:
            return
        now = self._loop.time()
        if went_on:
            self._began, self._went_on = True, now
        self._until = min(now + self.limit, self._went_on + KEPT_ALIVE * self.limit, self._latest)

    def _end_if_late(self) -> None:
        """End the request if its time is up; else check again at its new deadline.

        Moving the timer for each piece of an answer costs several times as much as storing the
        deadline.
        """
        if self._loop.time() < self._until:
            self._alarm = self._loop.call_at(self._until, self._end_if_late)
        else:
            self._is_over = True
            self._timer.reschedule(self._until)

    def _too_late(self) -> CallError:
        """Return the error that names the exceeded limit."""
        if self.patience is not None and self._until == self._latest:
            return self._failure(
                f"no whole answer within {self.patience:g} seconds, the agent's timeout (the"
                f" model's own is {self.limit:g}).",
                is_hurried=True,
            )
        is_alive = self._until == self._went_on + KEPT_ALIVE * self.limit
        seconds = self.limit * (KEPT_ALIVE if is_alive else 1)
        if not self._began:
            return self._failure(f"no whole answer within {seconds:g} seconds.")
        what = "only keep-alives" if is_alive else "nothing"
        return self._failure(f"the answer stalled: {what} received for {seconds:g} seconds.")

    def _failure(self, message: str, *, is_hurried: bool = False) -> CallError:
        return CallError(
            f"{self.source}: {message}",
            kind="slow" if is_hurried else "timeout",
            may_be_billed=True,
        )
