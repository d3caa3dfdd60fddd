"""Waiting for programs that may be broken: for what they write, and for their end."""

from __future__ import annotations

import os
import select
import subprocess
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["ended_in_time", "read_in_time"]

_POLL_SECONDS = 0.05


def read_in_time(
    stream: int, deadline: float, *, limit: int, ended: Callable[[], bool] = lambda: False
) -> Iterator[bytes]:
    """Yield what can be read from a pipe that its writers may never close.

    Args:
        stream: the pipe.
        deadline: when to give up, on the clock of `time.monotonic`.
        limit: bytes after which to stop.
        ended: whether nothing more will be written to it.
    """
    readable = select.poll()
    readable.register(stream, select.POLLIN)
    while limit > 0:
        # Asked first: what was written before the end is in the pipe after it.
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
    """Return the exit code of a process, None if it still runs at the deadline."""
    try:
        return started.wait(max(0.0, deadline - time.monotonic()))
    except subprocess.TimeoutExpired:
        return None
