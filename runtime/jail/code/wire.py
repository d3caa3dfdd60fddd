"""The host's end of the connection to an interpreter in a jail."""

from __future__ import annotations

import contextlib
import json
import os
import re
import selectors
import socket
import time
from typing import Any

from ....schema.values.errors import JailError
from ..protocol import AnyProcess
from ..request import JailLimits

_CHUNK = 1 << 16
_LARGEST_PIPE = 1 << 20  # bytes, the most that an unprivileged process may request
_FLOOD_PAUSE = 0.001  # seconds between two reads of output that nobody will see
_DEEPEST = 64  # levels of lists and objects; code of ours and of libraries recurses over them
_STRING = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*(?:"|\Z)', re.DOTALL)
_ONE_KIND = bytes.maketrans(b"{}", b"[]")
_NO_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))


class WireError(JailError):
    """The other side sent a message that no honest interpreter sends."""


class HungUp(WireError):
    """The other side closed the connection."""


class WorkerConnection:
    """Exchanges messages with a process, one line of JSON each, and collects its output.

    The process may be hostile. Nothing here waits beyond a deadline, for reading or writing, and
    nothing grows beyond the limits.

    Args:
        process: started with pipes for all three streams.
    """

    def __init__(self, process: AnyProcess, limits: JailLimits) -> None:
        assert process.stdin is not None  # noqa: S101 - for the type checker
        assert process.stderr is not None  # noqa: S101
        self._limits = limits
        self._to_send = bytearray()
        self._received = bytearray()
        self._printed = bytearray()
        self._dropped = 0
        self._stdin, self._stdout = process.stdin.fileno(), process.stdout.fileno()
        self._stderr = process.stderr.fileno()
        self._woken = False
        self._sleeper, self._waker = socket.socketpair()
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._sleeper, selectors.EVENT_READ)
        for stream in (self._stdin, self._stdout, self._stderr):
            os.set_blocking(stream, False)
        self._selector.register(self._stdout, selectors.EVENT_READ)
        self._selector.register(self._stderr, selectors.EVENT_READ)

    def send(self, message: dict[str, Any]) -> None:
        """Queue a message; `receive` sends it.

        Raises:
            ValueError: the message is larger than the limit, or not JSON-able.
            TypeError: the message is not JSON-able.
        """
        line = json.dumps(message, allow_nan=False).encode() + b"\n"
        if len(line) > self._limits.message:
            raise ValueError(
                f"it has {len(line)} bytes, more than the {self._limits.message} allowed"
            )
        if not self._to_send:
            self._selector.register(self._stdin, selectors.EVENT_WRITE)
        self._to_send += line

    @property
    def is_behind(self) -> bool:
        """Whether the other side has not read all sent data."""
        return bool(self._to_send)

    def receive(self, deadline: float) -> dict[str, Any]:
        """Send the queued data and return the next message.

        Args:
            deadline: when to give up, on the clock of `time.monotonic`.
        """
        while (end := self._received.find(b"\n")) < 0:
            self._exchange(deadline)
        line = bytes(self._received[:end])
        del self._received[: end + 1]
        return _message(line)

    def rest(self) -> None:
        """Wait until another thread calls `wake`."""
        while not self._woken:
            self._exchange(None)
        self._woken = False

    def wake(self) -> None:
        """Let `rest` return. May be called from any thread, also after `close`."""
        with contextlib.suppress(OSError):
            self._waker.send(b"!")

    def printed(self) -> str:
        """Return and clear the output since the last call."""
        # Output before the last message is in the pipe by now, up to the pipe's size.
        for _ in range(_LARGEST_PIPE // _CHUNK + 1):
            if not self._read_printed():
                break
        text = self._printed.decode("utf-8", "replace")
        if self._dropped:
            text += f"\n[output cut after {self._limits.output} bytes]\n"
        self._printed.clear()
        self._dropped = 0
        return text

    def close(self) -> None:
        """Release the descriptors used for waiting; the streams remain the process's."""
        self._selector.close()
        self._sleeper.close()
        self._waker.close()

    def _exchange(self, deadline: float | None) -> None:
        """Wait until something can be read or written, and do it."""
        remaining = None if deadline is None else deadline - time.monotonic()
        if remaining is not None and remaining <= 0:
            raise TimeoutError
        for key, _ in self._selector.select(remaining):
            if key.fileobj is self._sleeper:
                self._woken = bool(self._sleeper.recv(_CHUNK))
            elif key.fd == self._stdin:
                self._write()
            elif key.fd == self._stdout:
                self._read_messages()
            elif not self._read_printed():
                self._selector.unregister(self._stderr)

    def _write(self) -> None:
        try:
            sent = os.write(self._stdin, self._to_send)
        except BrokenPipeError as error:
            raise HungUp("it hung up") from error
        del self._to_send[:sent]
        if not self._to_send:
            self._selector.unregister(self._stdin)

    def _read_messages(self) -> None:
        chunk = os.read(self._stdout, _CHUNK)
        if not chunk:
            raise HungUp("it hung up")
        self._received += chunk
        if len(self._received) > self._limits.message + _CHUNK:
            what = "messages" if b"\n" in self._received else "a message"
            raise WireError(f"it sent {what} of more than {self._limits.message} bytes")

    def _read_printed(self) -> bool:
        """Read a chunk of the process's output; False if there was none."""
        try:
            chunk = os.read(self._stderr, _CHUNK)
        except BlockingIOError:
            return False
        room = self._limits.output - len(self._printed)
        self._printed += chunk[:room]
        self._dropped += max(0, len(chunk) - room)
        if self._dropped > len(chunk):
            time.sleep(_FLOOD_PAUSE)
        return bool(chunk)


def _message(line: bytes) -> dict[str, Any]:
    if _is_deep(line):
        raise WireError(f"it sent a message of more than {_DEEPEST} levels")
    try:
        message = json.loads(line)
        # Neither infinity nor half of a surrogate pair can be written to a file as JSON.
        json.dumps(message, ensure_ascii=False, allow_nan=False).encode("utf-8")
    except ValueError as error:
        raise WireError(f"it sent a message that is not JSON: {error}") from error
    if not isinstance(message, dict):
        raise WireError(f"it sent {type(message).__name__} instead of a message")
    return message


def _is_deep(line: bytes) -> bool:
    """Return whether the lists and objects of a JSON text have too many levels."""
    if line.count(b"[") + line.count(b"{") <= _DEEPEST:
        return False
    brackets = _STRING.sub(b"", line).translate(_ONE_KIND, _NO_BRACKETS)
    # Each round removes the innermost level.
    for _ in range(_DEEPEST):
        if b"[" * _DEEPEST + b"[" in brackets:
            return True
        brackets = brackets.replace(b"[]", b"")
    return bool(brackets)
