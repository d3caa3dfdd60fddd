"""The boundary to code that others wrote: functions, tools, scorers, backends and strategies.

Whatever it raises becomes an error of ours, with the line of theirs. Nobody else catches it.
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
    """Map whatever code of others raises in a block.

    Args:
        noun: Whose code it is, for the message.

    Raises:
        CoterieError: One of ours, which the code let pass; or what `kind` makes.
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
    """Return whether code of others raised an error, and nobody who ends it from outside.

    Args:
        task: The task that called the code. If another task is at work now, somebody closes a
            coroutine that waits for the code.
    """
    is_cancelled = type(error).__name__ == "CancelledError" and not isinstance(error, Exception)
    is_closed = isinstance(error, GeneratorExit) and task is not None and running_task() is not task
    return not (is_cancelled or is_closed or isinstance(error, KeyboardInterrupt))


def running_task() -> object | None:
    """Return the task of asyncio that is at work in this thread; None where there is none."""
    if (asyncio := sys.modules.get("asyncio")) is None:
        return None
    try:
        return asyncio.current_task()
    except RuntimeError:  # There is no loop.
        return None


def why(error: BaseException, place: str | None = None) -> str:
    """Return an error in words, on one line, with the line of others' code that it is of."""
    words = "".join(traceback.format_exception_only(error)).strip().splitlines()
    text = words[-1] if isinstance(error, SyntaxError) else " ".join(words)
    place = place or place_of(error)
    return scrubbed(f"{text[:LONGEST]}{f' ({place})' if place else ''}")


def place_of(error: BaseException) -> str | None:
    """Return the line of others' code that an error is of, as `file:line`.

    That is the innermost line of the package that we called, not of what that one uses: also where
    we raised it, as that package gave us something wrong.
    """
    if isinstance(error, SyntaxError) and error.filename:
        return f"{error.filename}:{error.lineno}"
    theirs = [frame for frame in _frames(error) if frame[0] != OWN]
    place = next((place for name, place in reversed(theirs) if name == theirs[0][0]), None)
    return place or (place_of(error.__cause__) if error.__cause__ else None)


def plugin_place(error: BaseException, plugins: Iterable[str]) -> str | None:
    """Return the last line of a plug-in that an error passed through; None where it did not.

    Where we raised it, the plug-in called us with something wrong, or changed what it was given.
    Of a `StopIteration`, Python makes another error where it leaves a generator or a coroutine.

    Args:
        plugins: The packages that plug-ins are in.
    """
    theirs = {*plugins} - {OWN}
    frames = reversed(_frames(error))
    if place := next((place for name, place in frames if name in theirs), None):
        return place
    return plugin_place(error.__cause__, plugins) if error.__cause__ else None


def _frames(error: BaseException) -> list[tuple[str, str]]:
    """Return the package and the line of each call, but those of Python itself."""
    return [
        (name, f"{frame.f_code.co_filename}:{line}")
        for frame, line in traceback.walk_tb(error.__traceback__)
        if (name := str(frame.f_globals.get("__name__", "")).partition(".")[0])
        not in sys.stdlib_module_names
    ]
