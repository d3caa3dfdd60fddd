"""The limits of a run over all its rounds: the team's time, and each agent's spending.

Working time counts without waits for others.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import AsyncGenerator, Callable
from contextlib import (
    AbstractAsyncContextManager,
    AbstractContextManager,
    asynccontextmanager,
    nullcontext,
)
from typing import TYPE_CHECKING

from ..values.usage import NOTHING, Usage

if TYPE_CHECKING:
    from ..agents.outcomes import Run
    from ..record.journal import Journal


class Allowance:
    """The time of a run, and the spending of its agents in its passes so far.

    Args:
        timeout: Seconds that all passes together may take.

    Attributes:
        time: The part of that time in which some agent worked instead of waiting for its model.
    """

    def __init__(self, timeout: float) -> None:
        self.timeout = timeout
        self.time = OwnTime(timeout)
        self._ends: float | None = None
        self._paths: list[str] = []
        self._ended: set[str] = set()
        self._recorded: dict[str, tuple[int, Usage]] = {}
        self._spent: defaultdict[str, Usage] = defaultdict(lambda: NOTHING)
        self._seconds: defaultdict[str, float] = defaultdict(float)

    def left(self) -> float:
        """Return the seconds that are left, counted from the first call."""
        now = asyncio.get_running_loop().time()
        if self._ends is None:
            self._ends = now + self.timeout
        return max(0.0, self._ends - now)

    def count(self, run: Run, path: str) -> None:
        """Count a pass that has ended."""
        if path not in self._ended:
            self._ended.add(path)
            self._paths.append(path)
        for agent_id, outcome in run.agents.items():
            self._spent[agent_id] += outcome.usage
            self._seconds[agent_id] += outcome.seconds

    def of(self, agent_id: str, path: str, journal: Journal | None) -> tuple[Usage, float]:
        """Return an agent's spending so far, and the seconds that it has worked.

        The journal also holds the cost of failed calls of earlier processes.

        Args:
            path: The path of the pass that it is about to work in.
            journal: The run's journal, if it has one.
        """
        seconds = self._seconds[agent_id]
        if journal is None:
            return self._spent[agent_id], seconds
        # A pass that has ended costs no more, so each is read once.
        read, spent = self._recorded.get(agent_id, (0, NOTHING))
        ended = self._paths[read:]
        spent = sum((journal.spent(f"{name}{agent_id}/") for name in ended), spent)
        self._recorded[agent_id] = len(self._paths), spent
        if path not in self._ended:
            spent += journal.spent(f"{path}{agent_id}/")
        return spent, seconds


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
