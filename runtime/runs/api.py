"""Running a team from Python: in one call, awaited, or event by event."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncGenerator, Callable, Coroutine
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import replace
from pathlib import Path
from typing import Any, Unpack

from ...schema.team.task import Task
from ...schema.team.team import Team
from ..agents.outcomes import Run
from ..gateway.sharing import RateLimiters, Shared
from ..messages.attached import refuse_unread
from ..messages.messages import refuse_unfilled
from ..record.trace import Event, RunFolder, Trace
from ..scrubbing.scrubber import Scrubber
from ..tools.approval import terminal_approver
from ..values.budget import Budget
from .arguments import naming_arguments
from .options import Options, Prepared, prepared, recorded
from .record import RunRecord, read_result
from .services import open_services

__all__ = [
    "Options",
    "Streaming",
    "areplay",
    "aresume",
    "arun",
    "replay",
    "resume",
    "run",
    "stream",
]

_limiters: RateLimiters = {}
"""State shared by all runs of a process: a model's bound on concurrent calls, the pauses that its
endpoint requests, and whether it is out. These concern the host, not one run."""


def run(
    team: Team | str | Path, task: Task | str | Path | None = None, **options: Unpack[Options]
) -> Run:
    """Load, compile and execute a team on a task, and wait for the result.

    If an event loop is already running, as in a notebook, the run gets its own loop in a thread.

    Args:
        team: A team, the path of a team file, or `seed:NAME`.
        task: A task, or the path of a task file. None to use `query`.
        **options: See `Options`.

    Raises:
        InputError: A file does not load, or the run lacks a requirement.
        StorageError: The run's folder can no longer be written.
    """
    return _waited(arun(team, task, **options))


async def arun(
    team: Team | str | Path, task: Task | str | Path | None = None, **options: Unpack[Options]
) -> Run:
    """Do the same as `run`, in the caller's event loop.

    Raises:
        InputError: A file does not load, or the run lacks a requirement.
        StorageError: The run's folder can no longer be written.
        asyncio.CancelledError: The caller cancelled; everything has stopped.
    """
    with naming_arguments():
        # Files are read, and modules imported, without blocking the caller's loop.
        return await _make_run(await asyncio.to_thread(prepared, team, task, options), options)


def resume(folder: str | Path, **options: Unpack[Options]) -> Run:
    """Resume a recorded run, as `mas-run --resume` does, and wait for the result.

    Nothing is paid twice. A completed run is replayed.

    Args:
        **options: Another budget or model, for example: see `Options`. The host alone defines which
            model an alias stands for, never the folder. `query` and `runs` are not available.

    Raises:
        InputError: It is not the folder of a run, or this host would call other models than
            recorded.
        StorageError: The run's folder can no longer be written.
    """
    return _waited(aresume(folder, **options))


async def aresume(folder: str | Path, **options: Unpack[Options]) -> Run:
    """Do the same as `resume`, in the caller's event loop."""
    folder = Path(folder)
    with naming_arguments():
        result = read_result(folder)
        if result is not None and result["status"] == "done":
            return await areplay(folder, **options)
        made_of = await asyncio.to_thread(recorded, folder, options, offline=False)
        return await _make_run(made_of, options)


def replay(folder: str | Path, **options: Unpack[Options]) -> Run:
    """Repeat a recorded run offline, as `mas-run --replay` does: no call, no write.

    Args:
        **options: `tools`, if your functions were granted, and `listener`.

    Raises:
        InputError: It is not the folder of a run.
    """
    return _waited(areplay(folder, **options))


async def areplay(folder: str | Path, **options: Unpack[Options]) -> Run:
    """Do the same as `replay`, in the caller's event loop."""
    with naming_arguments():
        made_of = await asyncio.to_thread(recorded, Path(folder), options, offline=True)
        return await _make_run(made_of, options)


def stream(
    team: Team | str | Path, task: Task | str | Path | None = None, **options: Unpack[Options]
) -> Streaming:
    """Run a team as `arun` does, and yield its events as they happen, in an `async for` loop."""
    return Streaming(team, task, options)


class Streaming:
    """The events of a run. The run begins with the loop over them, and ends with it.

    The loop raises the errors of `arun`. Leaving it early cancels the run.

    Attributes:
        result: The result of the run; None until its events have ended.
    """

    def __init__(
        self, team: Team | str | Path, task: Task | str | Path | None, options: Options
    ) -> None:
        self._inputs = (team, task)
        self._options = options
        self.result: Run | None = None

    async def __aiter__(self) -> AsyncGenerator[Event]:
        happened: asyncio.Queue[Event | None] = asyncio.Queue()
        loop = asyncio.get_running_loop()
        also = self._options.get("listener")

        def listen(event: Event) -> None:
            loop.call_soon_threadsafe(happened.put_nowait, event)
            if also is not None:
                also(event)

        work = asyncio.create_task(arun(*self._inputs, **{**self._options, "listener": listen}))
        work.add_done_callback(lambda _: happened.put_nowait(None))
        try:
            while (event := await happened.get()) is not None:
                yield event
            self.result = await work
        finally:
            work.cancel()
            await asyncio.wait({work})


def _waited(work: Coroutine[Any, Any, Run]) -> Run:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    return _in_a_thread(work)


def _in_a_thread(work: Coroutine[Any, Any, Run]) -> Run:
    """Run a coroutine in a thread's own event loop, and wait; an interrupt cancels it."""
    begun: Future[Callable[[], object]] = Future()

    async def cancellable() -> Run:
        loop, task = asyncio.get_running_loop(), asyncio.current_task()
        begun.set_result(lambda: task and loop.call_soon_threadsafe(task.cancel))
        return await work

    with ThreadPoolExecutor(max_workers=1, thread_name_prefix="coterie") as thread:
        future = thread.submit(copy_context().run, asyncio.run, cancellable())
        try:
            return future.result()
        finally:
            if not future.done():
                begun.result()()


async def _make_run(made_of: Prepared, options: Options) -> Run:
    """Make a run, in its folder if it has one or one is requested."""
    plan, task, setting, offline = made_of.plan, made_of.task, made_of.setting, made_of.offline
    terminal = terminal_approver()
    async with (
        Shared(_limiters) as shared,
        open_services(
            made_of.catalogue,
            setting,
            approver=terminal,
            responder=terminal.respond if terminal else None,
            shared=shared,
        ) as here,
    ):
        refuse_unread([plan], task, made_of.place)
        refuse_unfilled([plan], [task], made_of.place)
        if here.recaller is not None:
            from ..messages.recall import refuse_met

            refuse_met(plan, task, here.recaller, made_of.place)
        await here.prepare(plan, offline=offline)
        scrub = here.scrubber(os.environ)
        record = _record(made_of, options.get("runs"), scrub)
        listener, budget = options.get("listener"), Budget(setting.budget)
        listeners = (listener,) if listener else ()
        if record is None:
            return await here.execute(plan, task, trace=Trace(*listeners), budget=budget)
        async with record:
            if not offline:
                budget.deposit(record.spent(), seconds=record.journal.seconds)
                listeners = (record.folder, *listeners)
                if record.failed:
                    await record.journal.renew()
            result = await here.execute(
                plan,
                task,
                journal=record.journal,
                scrubber=scrub,
                trace=Trace(*listeners),
                budget=None if offline else budget,
                keep=None if offline else record.keep,
            )
            record.finish(result)
        return replace(result, folder=record.folder.path)


def _record(made_of: Prepared, runs: str | Path | None, scrub: Scrubber) -> RunRecord | None:
    """Begin the record of a run, or open that of a recorded one; None to record nothing."""
    if made_of.folder is not None:
        folder = RunFolder(made_of.folder, scrub)
        return RunRecord(folder, made_of.plan, replaying=made_of.offline)
    if runs is None:
        return None
    return RunRecord.begin(Path(runs), made_of.plan, made_of.task, made_of.setting, scrub=scrub)
