"""The bridge between a thread that blocks and the event loop."""

import asyncio
import threading
from typing import Any, NoReturn

import pytest

from coterie.runtime.runners.bridge import Bridge, Stopped, in_thread
from coterie.schema.values.errors import AgentError

from ...waiting import PATIENCE

pytestmark = pytest.mark.usefixtures("nothing_left")


async def doubled(number: int) -> int:
    await asyncio.sleep(0)
    return 2 * number


async def failing() -> NoReturn:
    raise LookupError("none")


def test_the_thread_gets_results_and_errors_of_the_loop() -> None:
    def work(bridge: Bridge) -> int:
        with pytest.raises(LookupError, match="none"):
            bridge.wait(failing())
        return bridge.wait(doubled(21))

    assert asyncio.run(in_thread(work, name="t")) == 42


def test_told_functions_run_on_the_loops_thread() -> None:
    heard: list[threading.Thread] = []

    def work(bridge: Bridge) -> None:
        bridge.tell(lambda: heard.append(threading.current_thread()))
        bridge.wait(doubled(1))

    asyncio.run(in_thread(work, name="t"))
    assert heard == [threading.main_thread()]


@pytest.mark.parametrize("end", [SystemExit(3), KeyboardInterrupt()])
def test_whoever_wants_to_end_the_process_fails_instead(end: BaseException) -> None:
    def work(bridge: Bridge) -> None:
        raise end

    with pytest.raises(AgentError, match=f"it tried to end the process: {type(end).__name__}"):
        asyncio.run(in_thread(work, name="t"))


@pytest.mark.parametrize("error", [ValueError("wrong"), StopIteration("odd")])
async def test_other_errors_are_raised_where_the_thread_is_awaited(error: Exception) -> None:
    def work(bridge: Bridge) -> None:
        raise error

    task = asyncio.ensure_future(in_thread(work, name="t"))
    await asyncio.wait({task})
    raised = task.exception() or AssertionError("no error")
    assert raised is error or raised.__cause__ is error


async def cancelled_after(started: asyncio.Event, running: asyncio.Task[Any], times: int) -> None:
    await started.wait()
    for _ in range(times):
        running.cancel()
        await asyncio.sleep(0)
    with pytest.raises(asyncio.CancelledError):
        await running


@pytest.mark.parametrize("times", [1, 3])
async def test_cancelling_ends_what_the_thread_waits_for_and_then_the_thread(times: int) -> None:
    order: list[str] = []
    started = asyncio.Event()

    async def hanging() -> None:
        started.set()
        try:
            await asyncio.sleep(60)
        finally:
            await asyncio.sleep(0.05)
            order.append("coroutine ended")

    def work(bridge: Bridge) -> None:
        try:
            bridge.wait(hanging())
        except Exception:  # noqa: BLE001 - as agent libraries do
            order.append("taken for an error")
        finally:
            order.append("thread ended")

    await cancelled_after(started, asyncio.create_task(in_thread(work, name="t")), times)
    order.append("run ended")
    assert order == ["coroutine ended", "thread ended", "run ended"]


async def test_cancelling_stops_what_blocks_elsewhere_also_what_starts_later() -> None:
    started, blocked, stopped = asyncio.Event(), threading.Event(), threading.Event()

    def work(bridge: Bridge) -> None:
        bridge.on_stop(blocked.set)
        bridge.tell(started.set)
        assert blocked.wait(300)
        bridge.on_stop(stopped.set)
        assert stopped.is_set()
        coroutine = doubled(1)
        with pytest.raises(Stopped):
            bridge.wait(coroutine)

    await cancelled_after(started, asyncio.create_task(in_thread(work, name="t")), 1)
    assert stopped.is_set()


async def test_a_stuck_thread_is_waited_for_within_the_bound(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("coterie.runtime.runners.bridge.END_SECONDS", 0.1)
    freed, ended = threading.Event(), threading.Event()
    started = asyncio.Event()

    def work(bridge: Bridge) -> None:
        bridge.tell(started.set)
        freed.wait()
        threading.Thread(target=lambda: (stuck.join(), ended.set())).start()

    running = asyncio.create_task(in_thread(work, name="stuck"))
    await started.wait()
    stuck = next(thread for thread in threading.enumerate() if thread.name == "stuck")
    await cancelled_after(started, running, 1)
    freed.set()
    assert ended.wait(PATIENCE)


async def test_many_threads_work_at_the_same_time() -> None:
    together = threading.Barrier(40)
    async with asyncio.TaskGroup() as group:
        tasks = [
            group.create_task(in_thread(lambda bridge: together.wait(300), name=str(number)))
            for number in range(40)
        ]
    assert sorted([task.result() for task in tasks]) == list(range(40))
