"""Event loops whose time is not the clock's, so that what happens when is exact on any machine.

`run_virtually` jumps from timer to timer, for code without real input and output.
`run_held` stands still until the test passes time, for code with it.
"""

import asyncio
import functools
import selectors
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

T = TypeVar("T")
Idle = Callable[[float | None], float]
"""Makes something happen, and returns how many seconds pass. It is given the seconds to the next
timer, None where there is none."""


def _jump(timeout: float | None) -> float:
    assert timeout is not None, "everything waits, and no timer will wake anything"
    return timeout


class VirtualLoop(asyncio.SelectorEventLoop):
    """An event loop that asks what happens, where others wait; mostly, the next timer goes off.

    For code without real input or output. What threads do takes no time of its own.

    Attributes:
        now: Seconds that have passed.
        threads: Pieces of work that are under way in threads.
    """

    def __init__(self, idle: Idle = _jump) -> None:
        self.now = 0.0
        self.threads = 0
        super().__init__(_Selector(self, idle))

    def time(self) -> float:
        return self.now

    def run_in_executor(self, executor: Any, func: Callable[..., T], *args: Any) -> Any:
        working = super().run_in_executor(executor, func, *args)
        self.threads += 1
        working.add_done_callback(lambda _: self._is_back())
        return working

    async def shutdown_default_executor(self, *args: Any) -> None:
        self.threads += 1
        try:
            await super().shutdown_default_executor(*args)
        finally:
            self._is_back()

    def _is_back(self) -> None:
        self.threads -= 1


class _Selector(selectors.DefaultSelector):
    def __init__(self, loop: VirtualLoop, idle: Idle) -> None:
        super().__init__()
        self._loop = loop
        self._idle = idle

    def select(self, timeout: float | None = None) -> Any:
        if self._loop.threads and timeout != 0:  # long texts are worked on beside the loop
            return super().select(None)
        if timeout is None or timeout > 0:
            self._loop.now += self._idle(timeout)
        return super().select(0)


def run_virtually(coroutine: Coroutine[Any, Any, T], loop: VirtualLoop | None = None) -> T:
    """Run a coroutine to its end on a virtual loop, which then closes."""
    with asyncio.Runner(loop_factory=lambda: loop or VirtualLoop()) as runner:
        return runner.run(coroutine)


def virtually(test: Callable[..., Coroutine[Any, Any, None]]) -> Callable[..., None]:
    """Have an async test run on a virtual loop of its own."""

    @functools.wraps(test)
    def run(**fixtures: Any) -> None:
        run_virtually(test(**fixtures))

    return run


def virtual_clock() -> float:
    """The running loop's time in seconds."""
    return asyncio.get_running_loop().time()


class HeldLoop(asyncio.SelectorEventLoop):
    """Its time stands still but for `pass_time`. Files, sockets and threads work as ever."""

    now = 0.0

    def time(self) -> float:
        return self.now

    @property
    def timers(self) -> set[float]:
        """When the timers that are set go off."""
        scheduled: list[asyncio.TimerHandle] = self._scheduled  # pyright: ignore[reportAttributeAccessIssue]
        return {timer.when() for timer in scheduled if not timer.cancelled()}


def run_held(coroutine: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine to its end on a loop whose time stands still until `pass_time`."""
    with asyncio.Runner(loop_factory=HeldLoop) as runner:
        return runner.run(coroutine)


def pass_time(seconds: float) -> None:
    """Let time pass on the running held loop: timers that are due then go off next."""
    _held_loop().now += seconds


async def until_a_timer_is_set(seconds: float) -> None:
    """Wait until something on the running held loop waits for so many seconds from now."""
    loop = _held_loop()
    while loop.now + seconds not in loop.timers:  # noqa: ASYNC110 - a timer tells nobody
        await asyncio.sleep(0)


def _held_loop() -> HeldLoop:
    loop = asyncio.get_running_loop()
    assert isinstance(loop, HeldLoop)
    return loop
