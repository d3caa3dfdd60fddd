"""An event loop whose time is virtual: waiting takes none, and what happens when is exact."""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Coroutine
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


def virtual_clock() -> float:
    """The running loop's time in seconds."""
    return asyncio.get_running_loop().time()
