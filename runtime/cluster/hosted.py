"""A command of a jail on a worker, whose streams the driver reads remotely."""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections import deque
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Executor

    from ..jail.process import JailedProcess

STDOUT, STDERR = 1, 2
CHUNK = 1 << 16
LARGEST_PIPE = 1 << 20
"""The largest pipe, in bytes, that a process without privileges may request."""
MOST_WAITING = 1 << 20
"""The most bytes to read ahead of the remote reader."""
AT_ONCE = 96 << 10
"""The most bytes of one answer: as many as Ray sends inline, without its object store."""
PATIENCE = 30.0
"""Seconds after which a request is answered even if nothing happened."""

News = tuple[list[tuple[int, bytes]], str | None, int | None, bool]
"""A command's news since the last request. First, pieces of its streams, each with the stream's
number (an empty piece is its end). Then, why the host ended the command, its exit code once it has
ended, and whether no more news will follow."""


class HostedProcess:
    """Reads the streams of a command as data arrives. Everything happens on the event loop.

    Args:
        on_end: Called when all its processes have ended and all its output was handed over.
    """

    def __init__(
        self, process: JailedProcess, threads: Executor, on_end: Callable[[], object]
    ) -> None:
        self.process = process
        self._on_end = on_end
        self._loop = asyncio.get_running_loop()
        self._waiting: deque[tuple[int, bytes]] = deque()
        self._size = 0
        self._code: int | None = None
        self._news = asyncio.Event()
        self._ended = False
        self._wake = asyncio.Event()
        self._open: dict[int, int] = {STDOUT: process.stdout.fileno()}
        if process.stderr is not None:
            self._open[STDERR] = process.stderr.fileno()
        for handle in self._open.values():
            os.set_blocking(handle, False)
        if process.stdin is not None:
            os.set_blocking(process.stdin.fileno(), False)
        self._reading: set[int] = set()
        self._is_dropped = False
        self._listen()
        threads.submit(self._await_end)

    async def news(self) -> News:
        """Wait for something to happen, and return everything that did."""
        try:
            async with asyncio.timeout(PATIENCE):
                await self._news.wait()
        except TimeoutError:
            pass
        pieces, size = [], 0
        while self._waiting and size < AT_ONCE:
            stream, piece = self._waiting.popleft()
            pieces.append((stream, piece))
            size += len(piece)
        self._size -= size
        self._listen()
        over = self._code is not None and not self._open and not self._waiting
        if over:
            self._on_end()
        elif not self._waiting:
            self._news.clear()
        # Read last: the reason is set before a command is ended.
        return pieces, self.process.stopped, self._code, over

    async def write(self, data: bytes) -> bool:
        """Write to the command's input; an empty text closes it.

        Returns:
            Whether the command still reads.
        """
        stdin = self.process.stdin
        if stdin is None or self._ended:
            return False
        if not data:
            stdin.close()
            return False
        left = memoryview(data)
        while left and not self._ended:
            try:
                left = left[os.write(stdin.fileno(), left) :]
            except BlockingIOError:
                await self._writable(stdin.fileno())
            except (BrokenPipeError, ValueError):  # it no longer reads, or was closed
                return False
        return not left

    def drop(self) -> None:
        """Stop reading, because no more requests will come."""
        for stream in [*self._reading]:
            self._stop_reading(stream)
        self._is_dropped = True

    async def _writable(self, handle: int) -> None:
        """Wait until the command reads more, or ends."""
        self._wake.clear()
        self._loop.add_writer(handle, self._wake.set)
        try:
            await self._wake.wait()
        finally:
            self._loop.remove_writer(handle)

    def _await_end(self) -> None:
        code = self.process.wait()
        with contextlib.suppress(RuntimeError):  # the loop is gone: no more requests come
            self._loop.call_soon_threadsafe(self._end, code)

    def _end(self, code: int | None) -> None:
        self._code = code
        self._ended = True
        self._wake.set()
        self._news.set()

    def _listen(self) -> None:
        """Resume reading streams whose buffers have room."""
        if self._is_dropped or self._size >= MOST_WAITING:
            return
        for stream, handle in self._open.items():
            if stream not in self._reading:
                self._reading.add(stream)
                self._loop.add_reader(handle, self._readable, stream)

    def _readable(self, stream: int) -> None:
        piece = self._read(stream)
        # Whoever has seen a message on the first stream takes it that all that was printed on the
        # second before it is there, too.
        if stream == STDOUT and STDERR in self._open:
            for _ in range(LARGEST_PIPE // CHUNK + 1):
                if not self._take(STDERR, self._read(STDERR)):
                    break
        self._take(stream, piece)
        if self._size >= MOST_WAITING:
            for number in [*self._reading]:
                self._stop_reading(number)

    def _read(self, stream: int) -> bytes | None:
        """Read once; None if no data is available."""
        try:
            return os.read(self._open[stream], CHUNK)
        except BlockingIOError:
            return None

    def _take(self, stream: int, piece: bytes | None) -> bool:
        if piece is None:
            return False
        if not piece:
            self._stop_reading(stream)
            del self._open[stream]
        self._waiting.append((stream, piece))
        self._size += len(piece)
        self._news.set()
        return bool(piece)

    def _stop_reading(self, stream: int) -> None:
        if stream in self._reading:
            self._reading.discard(stream)
            self._loop.remove_reader(self._open[stream])
