"""Wait for the output and the end of programs that may hang."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import time
from collections.abc import Callable, Iterator

from ...schema.values.errors import JailError

_POLL_SECONDS = 0.05
_LONGEST_LINE = 80  # bytes


def read_in_time(
    stream: int, deadline: float, *, limit: int, ended: Callable[[], bool] = lambda: False
) -> Iterator[bytes]:
    """Yield the content of a pipe that its writers may never close.

    Args:
        deadline: when to give up, on the clock of `time.monotonic`.
        ended: returns whether nothing more will be written.
    """
    readable = select.poll()
    readable.register(stream, select.POLLIN)
    while limit > 0:
        # Checked first: everything written before the end is then in the pipe.
        is_last = ended() or time.monotonic() >= deadline
        if readable.poll(0 if is_last else _POLL_SECONDS * 1000):
            chunk = os.read(stream, limit)
            if not chunk:
                return
            limit -= len(chunk)
            yield chunk
        elif is_last:
            return


def ended_in_time(started: subprocess.Popen[bytes], deadline: float) -> int | None:
    """Return the exit code of a process; None if it still runs at the deadline."""
    try:
        return started.wait(max(0.0, deadline - time.monotonic()))
    except subprocess.TimeoutExpired:
        return None


def first_line(command: list[str], seconds: float) -> str:
    """Return the first line that a program prints, cut if long, and end it and its children.

    Args:
        seconds: the time within which it has to print a line, or end.

    Raises:
        JailError: it could not be started, or printed nothing in time.
    """
    try:
        started = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    except OSError as error:
        raise JailError(f"it can't be started: {error}") from error
    assert started.stdout is not None  # noqa: S101 - for the type checker
    deadline, text = time.monotonic() + seconds, b""
    with started:
        try:
            pieces = read_in_time(
                started.stdout.fileno(),
                deadline,
                limit=_LONGEST_LINE,
                ended=lambda: started.poll() is not None,
            )
            while b"\n" not in text and (piece := next(pieces, b"")):
                text += piece
            if not text and ended_in_time(started, deadline) is None:
                raise JailError(
                    f"asked for {command[-1]}, it printed nothing within {seconds:g} seconds"
                )
        finally:
            with contextlib.suppress(OSError):  # all of them have ended
                os.killpg(started.pid, signal.SIGKILL)
    return text.decode("utf-8", "replace").partition("\n")[0].strip()
