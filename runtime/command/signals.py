"""Does a command's work in an event loop.

Ctrl-C or SIGTERM ends it: gracefully the first time, at once the second time.
"""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from ...schema.values.errors import CoterieError, InputError
from ...schema.values.terminal import speakable

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Generator

    _Handler = signal.Handlers | Callable[[int, object], None]

SIGNALS = (signal.SIGINT, signal.SIGTERM)
SELDOM = (10_000, 20, 100)
"""The garbage collector's thresholds: new objects before a collection, and collections before one
of older objects (docs.python.org/3.11/library/gc.html#gc.set_threshold)."""
SHOW_CURSOR = b"\x1b[?25h\n"


def to_the_end(work: Coroutine[Any, Any, int], how_to_go_on: Callable[[], str]) -> int:
    """Do a command's work; a signal interrupts it.

    Args:
        how_to_go_on: Returns what the user can do after an interruption; starts with a blank or a
            line break.

    Returns:
        The exit code: 130 or 143 after an interruption.
    """
    ended_by = int(signal.SIGINT)

    def note(number: int) -> None:
        nonlocal ended_by
        ended_by = number

    async def listened() -> int:
        _end_on_signals(note)
        try:
            return await work
        finally:
            _from_now_on(signal.SIG_DFL)

    try:
        with collecting_seldom():
            return asyncio.run(listened())
    except (KeyboardInterrupt, asyncio.CancelledError):
        click.echo(f"interrupted.{how_to_go_on()}", err=True)
        return 128 + ended_by


@contextmanager
def collecting_seldom() -> Generator[None]:
    """Collect garbage a hundred times less often than Python's default.

    The objects of a waiting model call survive until its answer arrives. So many survive that
    Python would search all of them again and again: half of its time if 5,000 calls wait at once.
    Little of a run's garbage needs such a search.

    It affects the whole process, so only a command uses it, while it works.
    """
    before = gc.get_threshold()
    gc.set_threshold(*SELDOM)
    try:
        yield
    finally:
        gc.set_threshold(*before)


def same_command() -> str:
    """Return the hint that the same command resumes the work."""
    return " Repeat the command to resume."


def stopped_in_order(
    work: Callable[[], int],
    how_to_go_on: Callable[[], str] = same_command,
    show: Callable[[], object] = lambda: None,
) -> int:
    """Do a command's resumable work; report what stops it.

    Args:
        how_to_go_on: Returns what the user can do; starts with a blank or a line break.
        show: Shows the results so far, before the reason is reported.

    Returns:
        The exit code: that of the work, or of what stopped it.

    Raises:
        InputError: The work raised it: there is nothing to resume.
    """
    try:
        return work()
    except InputError:
        raise
    except CoterieError as error:
        show()
        click.echo(f"stopped: {speakable(str(error))}{how_to_go_on()}", err=True)
        return error.exit_code


def _end_on_signals(note: Callable[[int], None]) -> None:
    """Cancel the running task on the first signal, and end the process on the second.

    Files are complete at every moment, so ending at once loses only the calls in flight.
    """
    loop, task = asyncio.get_running_loop(), asyncio.current_task()

    def end(number: int) -> None:
        note(number)
        _from_now_on(_end_at_once)
        if task is not None:
            task.cancel()

    for number in SIGNALS:
        loop.add_signal_handler(number, end, int(number))


def _from_now_on(handler: _Handler) -> None:
    """Install a handler in place of the event loop's own."""
    loop = asyncio.get_running_loop()
    for number in SIGNALS:
        try:
            loop.remove_signal_handler(number)  # which gives Ctrl-C back to Python
            signal.signal(number, handler)
        except KeyboardInterrupt:  # it came between the two
            _end_at_once(signal.SIGINT, None)


def _end_at_once(number: int, _frame: object) -> None:
    if sys.stderr.isatty():
        os.write(2, SHOW_CURSOR)  # a live display may have hidden it
    os._exit(128 + number)
