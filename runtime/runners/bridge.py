"""Run a blocking library in its own thread, connected to the event loop.

Agent libraries are synchronous and our models and tools are not. Each run of such an agent gets a
thread, which calls the event loop for what it needs; cancelling the run ends the thread.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import contextvars
import threading
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from ...schema.values.errors import AgentError

T = TypeVar("T")

END_SECONDS = 15.0
"""Seconds that a cancelled run waits for its thread. A thread that still runs is abandoned."""


class Stopped(BaseException):
    """The run was cancelled; ends its thread at the next use of the bridge.

    Not an `Exception`, because agent libraries show every exception to their model and continue.
    """


class Bridge:
    """The event loop, as seen from a run's thread and the threads that it starts."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._tasks: set[asyncio.Task[Any]] = set()
        self._stops: list[Callable[[], object]] = []
        self._stopping = threading.Lock()
        self._stopped = False

    def wait(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine on the event loop, and return its result or raise its exception.

        Raises:
            Stopped: The run was cancelled, before or meanwhile.
        """
        future = asyncio.run_coroutine_threadsafe(self._watched(coroutine), self._loop)
        try:
            return future.result()
        except concurrent.futures.CancelledError:
            raise Stopped from None

    def tell(self, function: Callable[[], object]) -> None:
        """Schedule a function call on the event loop, without waiting for it."""
        self._loop.call_soon_threadsafe(function)

    def on_stop(self, stop: Callable[[], object]) -> None:
        """Register a callback for the run's cancellation; call it at once if already cancelled.

        Args:
            stop: Ends whatever else the thread may be waiting for. Called from any thread.
        """
        with self._stopping:
            if not self._stopped:
                self._stops.append(stop)
                return
        stop()

    def stop(self) -> None:
        """Cancel the coroutine that the thread waits for. Called on the event loop."""
        with self._stopping:
            self._stopped = True
        for task in self._tasks:
            task.cancel()
        for stop in self._stops:
            stop()

    async def _watched(self, coroutine: Coroutine[Any, Any, T]) -> T:
        task = asyncio.current_task()
        if self._stopped or task is None:
            coroutine.close()
            raise asyncio.CancelledError
        self._tasks.add(task)
        try:
            return await coroutine
        finally:
            self._tasks.discard(task)


async def in_thread(work: Callable[[Bridge], T], *, name: str) -> T:
    """Run a blocking function in its own thread.

    Args:
        work: The function. It reaches the event loop through the bridge that it receives.

    Returns:
        The result of `work`; its exceptions are raised.

    Raises:
        AgentError: `work` tried to end the process. Only an agent would.
        asyncio.CancelledError: The caller cancelled. The thread has ended, unless something in it
            could not be ended within `END_SECONDS`.
    """
    loop = asyncio.get_running_loop()
    bridge, ended = Bridge(loop), asyncio.Event()
    outcome: concurrent.futures.Future[T] = concurrent.futures.Future()

    def run() -> None:
        try:
            outcome.set_result(work(bridge))
        except BaseException as error:  # noqa: BLE001 - raised again where the thread is awaited
            outcome.set_exception(error)
        finally:
            with contextlib.suppress(RuntimeError):  # the loop is gone: nothing waits any more
                loop.call_soon_threadsafe(ended.set)

    # Daemonic: a thread that cannot be ended must not keep the process from ending.
    context = contextvars.copy_context()
    thread = threading.Thread(target=context.run, args=(run,), name=name, daemon=True)
    thread.start()
    try:
        await ended.wait()
    except asyncio.CancelledError:
        bridge.stop()
        await _ended_in_time(ended)
        raise
    finally:
        if ended.is_set():
            thread.join()
    return _result(outcome)


async def _ended_in_time(ended: asyncio.Event) -> None:
    """Wait for a thread's end, however often this wait is itself cancelled."""
    waiting = asyncio.ensure_future(ended.wait())
    deadline = asyncio.get_running_loop().time() + END_SECONDS
    while not waiting.done() and (left := deadline - asyncio.get_running_loop().time()) > 0:
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.wait({waiting}, timeout=left)
    waiting.cancel()


def _result(outcome: concurrent.futures.Future[T]) -> T:
    try:
        return outcome.result()
    except Stopped:
        raise asyncio.CancelledError from None
    except (SystemExit, KeyboardInterrupt) as error:
        raise AgentError(f"it tried to end the process: {type(error).__name__}.") from error
