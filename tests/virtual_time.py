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


class VirtualLoop(asyncio.SelectorEventLoop):
    """Jumps to the next timer instead of waiting for it. For code without real input or output."""

    def __init__(self) -> None:
        self.now = 0.0
        super().__init__(_Jumping(self))

    def time(self) -> float:
        return self.now


class _Jumping(selectors.DefaultSelector):
    def __init__(self, loop: VirtualLoop) -> None:
        super().__init__()
        self._loop = loop

    def select(self, timeout: float | None = None) -> list[Any]:
        assert timeout is not None, "everything waits, and no timer will wake anything"
        self._loop.now += timeout
        return super().select(0)


def run_virtually(coroutine: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine to its end on a virtual loop of its own."""
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
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
