"""Shell commands in a jail, each in its own processes."""

from __future__ import annotations

import os
import select
import shutil
import time
from dataclasses import dataclass
from pathlib import Path

from ..process import JailKilled
from ..protocol import AnyJail, AnyProcess

_CHUNK = 1 << 16
_FLOOD_PAUSE = 0.001  # seconds between two reads of output that nobody will see
_LONGEST_COMMAND = 120_000  # bytes; the kernel takes 131,071 in one argument
_NOT_RUN = 126  # a shell's exit code when it can't run a command


@dataclass(frozen=True, kw_only=True, slots=True)
class CommandResult:
    """The result of one command.

    Attributes:
        output: its output on both streams; a long one lacks a piece in the middle.
        returncode: its exit code, 128 + the signal's number if a signal ended it.
        stopped: why the host ended it; None if it ended by itself.
        timed_out: whether the host ended it for taking too long.
    """

    output: str
    returncode: int
    stopped: str | None = None
    timed_out: bool = False


class Shell:
    """Runs commands in the work folder.

    A command is over when its first process ends: its background processes are then killed. Files
    in the work folder and in `/tmp` stay for the next command; variables and processes do not.
    Every method may be called from any thread.

    Args:
        output: bytes to keep of a command's output; None: `Limits.output`.
    """

    def __init__(self, jail: AnyJail, *, output: int | None = None) -> None:
        self._jail = jail
        self._output = output or jail.limits.output
        self._program = "bash" if shutil.which("bash") else "sh"
        self._running: set[AnyProcess] = set()
        self._killed: str | None = None

    def run(
        self, command: str, *, timeout: float | None = None, folder: Path | None = None
    ) -> CommandResult:
        """Run a command and wait for its end.

        Args:
            command: one or more lines for bash.
            timeout: seconds that it may take; None: `Limits.wall`.
            folder: where it starts; None for the work folder.

        Raises:
            JailKilled: `kill` was called, on the shell or the jail, before or meanwhile.
            JailError: the jail could not be started.
        """
        self._check()
        text = command.encode("utf-8", "replace").decode()
        if "\0" in text or len(text.encode()) > _LONGEST_COMMAND:
            return CommandResult(
                output=f"The command was not run: it has more than {_LONGEST_COMMAND} bytes, or a "
                "NUL character. Write long texts to files in several commands.",
                returncode=_NOT_RUN,
            )
        seconds = self._jail.limits.wall if timeout is None else timeout
        process = self._jail.start([self._program, "-c", text], folder=folder)
        self._running.add(process)
        try:
            self._check()
            return self._finish(process, seconds)
        finally:
            self._running.discard(process)
            process.close()

    def kill(self, reason: str = "the host killed it") -> None:
        """End the running command for good; a waiting `run` raises `JailKilled` at once."""
        self._killed = self._killed or reason
        for process in tuple(self._running):
            process.kill(reason)

    def _check(self) -> None:
        if self._killed is not None:
            raise JailKilled(f"The shell has ended: {self._killed}.")
        self._jail.check()

    def _finish(self, process: AnyProcess, seconds: float) -> CommandResult:
        output = _Middleless(self._output)
        in_time = _drain(process, output, time.monotonic() + seconds)
        self._check()
        if not in_time:
            process.kill(f"it ran longer than {seconds:g} seconds")
            _drain(process, output, time.monotonic() + seconds)
        code = process.wait()
        self._check()
        return CommandResult(
            output=output.text(),
            returncode=_NOT_RUN if code is None else code,
            stopped=process.stopped,
            timed_out=not in_time,
        )


class _Middleless:
    """Bytes of which only the beginning and the end are kept."""

    def __init__(self, limit: int) -> None:
        self._half = limit // 2
        self._head = bytearray()
        self._tail = bytearray()
        self._size = 0

    def add(self, chunk: bytes) -> bool:
        """Add bytes; return False once some are left out."""
        room = self._half - len(self._head)
        self._head += chunk[:room]
        self._tail += chunk[room:]
        self._size += len(chunk)
        del self._tail[: -self._half]
        return self._size <= 2 * self._half

    def text(self) -> str:
        left_out = self._size - len(self._head) - len(self._tail)
        note = f"\n[... {left_out} bytes left out ...]\n" if left_out else ""
        return _text(self._head) + note + _text(self._tail)


def _text(part: bytearray) -> str:
    return part.decode("utf-8", "replace")


def _drain(process: AnyProcess, output: _Middleless, deadline: float) -> bool:
    """Read until all processes of the command have closed its output; False if that takes too long.

    The end of the first process ends the others, so no surviving process holds the pipe.
    """
    stream = process.stdout.fileno()
    readable = select.poll()
    readable.register(stream, select.POLLIN)
    while (remaining := deadline - time.monotonic()) > 0:
        if not readable.poll(remaining * 1000):
            return False
        chunk = os.read(stream, _CHUNK)
        if not chunk:
            return True
        if not output.add(chunk):
            time.sleep(_FLOOD_PAUSE)
    return False
