"""The boundary to foreign code: functions, tools, scorers, backends and strategies of others.

Any exception there becomes an error of ours that names the foreign line. No other module catches
them.
"""

from __future__ import annotations

import contextlib
import sys
import traceback
from collections.abc import Callable, Generator, Iterable

from ..values.errors import AgentError, CoterieError
from ..values.secrets import scrubbed

LONGEST = 1_000
OWN = __name__.partition(".")[0]


@contextlib.contextmanager
def foreign_code(noun: str, kind: Callable[[str], Exception] = AgentError) -> Generator[None]:
    """Convert all exceptions of foreign code in a block.

    Args:
        noun: The code's description, for the message.

    Raises:
        CoterieError: An error of ours that passed through the code, or the error that `kind`
            creates.
    """
    task = running_task()
    try:
        yield
    except CoterieError:
        raise
    except BaseException as error:
        if not is_theirs(error, task):
            raise
        raise kind(f"{noun} failed: {why(error)}") from error


def is_theirs(error: BaseException, task: object | None = None) -> bool:
    """Return whether foreign code raised an error, and not a cancellation from outside.

    Args:
        task: The task that called the code. If another task is running now, it is closing a
            coroutine that waits for the code.
    """
    is_cancelled = type(error).__name__ == "CancelledError" and not isinstance(error, Exception)
    is_closed = isinstance(error, GeneratorExit) and task is not None and running_task() is not task
    return not (is_cancelled or is_closed or isinstance(error, KeyboardInterrupt))


def running_task() -> object | None:
    """Return the asyncio task that runs in this thread; None if there is none."""
    if (asyncio := sys.modules.get("asyncio")) is None:
        return None
    try:
        return asyncio.current_task()
    except RuntimeError:  # There is no loop.
        return None


def why(error: BaseException, place: str | None = None) -> str:
    """Describe an error on one line, with its line of foreign code."""
    words = "".join(traceback.format_exception_only(error)).strip().splitlines()
    text = words[-1] if isinstance(error, SyntaxError) else " ".join(words)
    place = place or place_of(error)
    return scrubbed(f"{text[:LONGEST]}{f' ({place})' if place else ''}")


def place_of(error: BaseException) -> str | None:
    """Return an error's line of foreign code, as `file:line`.

    This is the innermost line of the package that we called, not of packages that it uses. It is
    found also if our code raised the error because that package passed a wrong value.
    """
    if isinstance(error, SyntaxError) and error.filename:
        return f"{error.filename}:{error.lineno}"
    theirs = [frame for frame in _frames(error) if frame[0] != OWN]
    place = next((place for name, place in reversed(theirs) if name == theirs[0][0]), None)
    return place or (place_of(error.__cause__) if error.__cause__ else None)


def plugin_place(error: BaseException, plugins: Iterable[str]) -> str | None:
    """Return the last line of a plug-in that an error passed through; None without one.

    If our code raised the error, the plug-in passed a wrong value or changed one that it was given.
    Python replaces a `StopIteration` that leaves a generator or a coroutine by another error.

    Args:
        plugins: The packages of plug-ins.
    """
    theirs = {*plugins} - {OWN}
    frames = reversed(_frames(error))
    if place := next((place for name, place in frames if name in theirs), None):
        return place
    return plugin_place(error.__cause__, plugins) if error.__cause__ else None


def _frames(error: BaseException) -> list[tuple[str, str]]:
    """Return the package and the line of each call, except Python's own."""
    return [
        (name, f"{frame.f_code.co_filename}:{line}")
        for frame, line in traceback.walk_tb(error.__traceback__)
        if (name := str(frame.f_globals.get("__name__", "")).partition(".")[0])
        not in sys.stdlib_module_names
    ]
