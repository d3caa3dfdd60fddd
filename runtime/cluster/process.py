"""A command in a jail on a worker, with local pipes for its remote streams."""

from __future__ import annotations

import contextlib
import os
import socket
import threading
from collections.abc import Callable
from typing import IO

from ...schema.values.errors import JailError
from .hosted import STDERR, STDOUT
from .link import Link, WorkerLost

CHUNK = 1 << 16
END_SECONDS = 60.0
"""Seconds to wait for a command's end, which is certain unless its worker hangs: a worker that has
not answered by then is lost."""


class RemoteProcess:
    """A command on a worker; see `AnyProcess`.

    One thread requests the command's output from the worker, and one sends its input, if any. A
    reader or writer of the local streams is slowed down as by the command's own pipes.

    Args:
        stdin: Whether the command has an input.
        stderr: Whether it has a second output stream.
        on_lost: Called when the worker is lost, before any stream ends.
    """

    def __init__(
        self,
        link: Link,
        jail: str,
        number: int,
        *,
        stdin: bool,
        stderr: bool,
        on_lost: Callable[[WorkerLost], object],
    ) -> None:
        self._link = link
        self._place = (jail, number)
        self._on_lost = on_lost
        self._over = threading.Event()
        self._exited = threading.Event()
        self._closing = threading.Lock()
        self._closed = False
        self._code: int | None = None
        self.stopped: str | None = None
        self._ends: dict[int, socket.socket] = {}
        self.stdout: IO[bytes] = self._stream(STDOUT)
        self.stderr: IO[bytes] | None = self._stream(STDERR) if stderr else None
        self.stdin: IO[bytes] | None = None
        self._fed: socket.socket | None = None
        if stdin:
            here, self._fed = socket.socketpair()
            self.stdin = os.fdopen(here.detach(), "wb")
        name = f"jail-{jail[:8]}-{number}"
        threading.Thread(target=self._fill, name=name, daemon=True).start()
        if self._fed is not None:
            feed = (self._fed,)
            threading.Thread(target=self._feed, args=feed, name=f"{name}-in", daemon=True).start()

    def _stream(self, number: int) -> IO[bytes]:
        here, self._ends[number] = socket.socketpair()
        return os.fdopen(here.detach(), "rb")

    @property
    def running(self) -> bool:
        """Whether the command has not ended yet."""
        return not self._exited.is_set()

    def kill(self, reason: str) -> None:
        """End the command and all its descendants; see `AnyProcess`."""
        if self._exited.is_set():
            return
        try:
            stopped, code = self._link.ask("end", *self._place, reason, seconds=END_SECONDS)
        except (WorkerLost, JailError) as error:
            self._lose(error)
            return
        self.stopped = self.stopped or stopped
        if code is not None and not self._exited.is_set():
            self._code = code
            # Not waited for: unread pipes could keep the worker from reporting it.
            self._exited.set()

    def wait(self, seconds: float | None = None) -> int | None:
        """Wait for the end of the command and return its exit code; see `AnyProcess`."""
        self._exited.wait(seconds)
        return self._code

    def close(self) -> None:
        """End the command and close the pipes to it."""
        self.abandon()
        self.kill("it was closed")
        with self._closing:
            if self._closed:
                return
            self._closed = True
        for stream in (self.stdin, self.stdout, self.stderr):
            if stream is not None:
                # Unwritten data has no reader any more.
                with contextlib.suppress(BrokenPipeError):
                    stream.close()

    def abandon(self) -> None:
        """End the local streams, whatever the command does. Returns at once."""
        for end in (*self._ends.values(), self._fed):
            if end is not None:
                _shut(end)

    def forsake(self) -> None:
        """End the local streams and all waits, because the command's state is unknown."""
        self._exited.set()
        self.abandon()

    def _fill(self) -> None:
        """Copy the command's output into the pipes, until it has ended."""
        over = False
        try:
            while not over:
                pieces, stopped, code, over = self._link.ask("news", *self._place)
                self.stopped = self.stopped or stopped
                for stream, piece in pieces:
                    self._bring(stream, piece)
                if code is not None:
                    self._code = code
                    self._exited.set()
        except (WorkerLost, JailError) as error:
            self._lose(error)
        finally:
            self._exited.set()
            for end in self._ends.values():
                end.close()
            if self._fed is not None:
                _shut(self._fed)

    def _lose(self, error: WorkerLost | JailError) -> None:
        """Give up the worker: it ended, or no longer knows the command."""
        self.stopped = self.stopped or str(error)
        self._on_lost(error if isinstance(error, WorkerLost) else WorkerLost(str(error)))
        self.forsake()

    def _bring(self, stream: int, piece: bytes) -> None:
        # Without a local reader, others slow down or end the command.
        with contextlib.suppress(OSError):
            if piece:
                self._ends[stream].sendall(piece)
            else:
                self._ends[stream].shutdown(socket.SHUT_WR)

    def _feed(self, fed: socket.socket) -> None:
        """Send local input to the command."""
        # The thread that fills the pipes also learns of a lost worker.
        with fed, contextlib.suppress(WorkerLost, JailError):
            while True:
                try:
                    piece = fed.recv(CHUNK)
                except OSError:
                    piece = b""
                if not self._link.ask("write", *self._place, piece):
                    return


def _shut(end: socket.socket) -> None:
    with contextlib.suppress(OSError):
        end.shutdown(socket.SHUT_RDWR)
