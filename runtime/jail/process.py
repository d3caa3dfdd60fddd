"""One running command of a jail: started, watched from outside, and reliably ended."""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import subprocess
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO

from ...schema.values.errors import JailError
from .layout import Confinement
from .pipes import ended_in_time, read_in_time
from .tiers import Tier, TierCommand

_LAST_WORDS = 4096  # bytes
_START_SECONDS = 10.0  # the longest time until a tier's program reports the process that it started
_END_SECONDS = 10.0  # the kernel ends a killed process at once unless a disk does not answer
_LEADER = 'read -r line; kill -s KILL -- "-$$"'


class JailKilled(JailError):
    """The host ended the jail while it was in use, or used it afterwards."""


class JailLost(JailKilled):
    """The machine with the jail is gone. Its work can be repeated elsewhere."""

    is_lost = True


class ProcessGroup:
    """A process group that ends when this process does, even by `kill -9`.

    The kernel ties bubblewrap to us, but ties bubblewrap's child to it only after all mounts: what
    bubblewrap leaves behind before that is still in this group. The group's leader waits for the
    end of a pipe that only we could write to, and then kills the group. While the leader waits, no
    other group can take the number.

    Attributes:
        alive: descriptor of the pipe, to read from.

    Raises:
        JailError: the group did not start.
    """

    def __init__(self) -> None:
        self.alive, self._held = os.pipe()
        try:
            self._leader = subprocess.Popen(
                ["/bin/sh", "-c", _LEADER],
                stdin=self.alive,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env={},
                cwd="/",
                process_group=0,
            )
        except OSError as error:
            self._close_pipe()
            raise JailError(f"A jail's process group did not start: {error}") from error
        self.number = self._leader.pid

    def close(self) -> None:
        """End all processes left in the group."""
        self._close_pipe()
        self._leader.wait()

    def _close_pipe(self) -> None:
        os.close(self._held)
        os.close(self.alive)


class JailedProcess:
    """A command in a jail on this machine; see `AnyProcess`."""

    def __init__(self, started: subprocess.Popen[bytes], init: int | None) -> None:
        self._started = started
        self._init = init
        self._init_handle = _handle(init)
        self._ending = threading.Lock()
        self.stdin: IO[bytes] | None = started.stdin
        self.stdout: IO[bytes] = _present(started.stdout)
        self.stderr: IO[bytes] | None = started.stderr
        self.stopped: str | None = None

    @property
    def root(self) -> int:
        """The id of the process above all processes of the command."""
        return self._started.pid if self._init is None else self._init

    @property
    def running(self) -> bool:
        """Whether the command has not ended yet."""
        return self._started.poll() is None

    def kill(self, reason: str) -> None:
        """End the command and all its descendants; see `AnyProcess`."""
        with self._ending:
            # A command that ended by itself was not stopped by a later kill.
            if self.stopped is None and self.running:
                self.stopped = reason
            self._end()

    def wait(self, seconds: float | None = None) -> int | None:
        """Wait for the command, end its remaining descendants, and return its exit code."""
        try:
            code = self._started.wait(seconds)
        except subprocess.TimeoutExpired:
            return None
        with self._ending:
            self._end()
        return code if code >= 0 else 128 - code

    def close(self) -> None:
        """End the command and close the pipes to it."""
        self.kill("it was closed")
        for stream in (self.stdin, self.stdout, self.stderr):
            if stream is not None:
                # Unwritten data has no reader any more.
                with contextlib.suppress(BrokenPipeError):
                    stream.close()

    def _end(self) -> None:
        if self._init is None:
            self._end_keeper()
        else:
            self._end_init()
        self._started.kill()
        self._await_end()

    def _end_keeper(self) -> None:
        """Let the keeper end all its descendants, even if unjailed code stopped the keeper."""
        self._started.terminate()
        self._started.send_signal(signal.SIGCONT)
        self._await_end()

    def _await_end(self) -> None:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._started.wait(_END_SECONDS)

    def _end_init(self) -> None:
        handle, self._init_handle = self._init_handle, None
        if handle is None:
            return
        try:
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(handle, signal.SIGKILL)
            # The init process of a namespace is gone only after every other process in it.
            end = select.poll()
            end.register(handle, select.POLLIN)
            end.poll(_END_SECONDS * 1000)
        finally:
            os.close(handle)


def spawn(
    tier: Tier,
    confinement: Confinement,
    command: Sequence[str],
    *,
    group: ProcessGroup | None,
    folder: Path,
    stdin: int,
    stderr: int,
) -> JailedProcess:
    """Start a command in a jail.

    The kernel ends the command when the calling thread ends, so that it cannot outlive us.

    Args:
        group: the process group for the tier's program; None for a tier without mounts.

    Raises:
        JailError: the jail did not start; the message contains its output.
    """
    alive = None if group is None else group.alive
    filter_fd, filter_end = os.pipe()
    report_end, report_fd = os.pipe()
    with open(filter_end, "wb") as program, open(report_end, "rb") as report:
        try:
            program.write(tier.syscall_filter())
            program.close()
            started = subprocess.Popen(
                tier.command(
                    confinement, command, TierCommand(folder, filter_fd, report_fd, alive)
                ),
                stdin=stdin,
                stdout=subprocess.PIPE,
                stderr=stderr,
                # /proc/1/environ shows the command what the jail's first process got.
                env=dict(confinement.environment),
                cwd="/",
                pass_fds=(filter_fd, report_fd, *(() if alive is None else (alive,))),
                # Either way, Ctrl-C is for us.
                start_new_session=group is None,
                process_group=None if group is None else group.number,
            )
        except OSError as error:
            raise JailError(f"{tier.name} did not start: {error}") from error
        finally:
            os.close(filter_fd)
            os.close(report_fd)
        deadline = time.monotonic() + _START_SECONDS
        init = _reported(report.fileno(), started, deadline) if tier.has_mounts else None
    if tier.has_mounts and init is None:
        raise JailError(f"{tier.name} did not start: {_last_words(started, deadline)}")
    return JailedProcess(started, init)


def _reported(report: int, started: subprocess.Popen[bytes], deadline: float) -> int | None:
    """Return the first process of a jail; None if the program that starts it reports none."""
    text = b""
    for chunk in _read(report, started, deadline):
        text += chunk
        with contextlib.suppress(ValueError):
            match json.loads(text):
                case {"child-pid": int(process)} if process > 1:
                    return process
                case _:
                    return None
    return None


def _handle(init: int | None) -> int | None:
    """Return a descriptor of the process, which no later process with the same id can take."""
    if init is None:
        return None
    try:
        return os.pidfd_open(init)
    except ProcessLookupError:
        return None


def _last_words(started: subprocess.Popen[bytes], deadline: float) -> str:
    stream = (started.stderr or _present(started.stdout)).fileno()
    with started:
        if started.stdin is not None:
            started.stdin.close()
        spoken = b"".join(_read(stream, started, deadline))
        code = ended_in_time(started, deadline)
        started.kill()
    if code is None:
        why = f"it did not report a process within {_START_SECONDS:g} seconds"
    else:
        why = f"it reported no process, and ended with exit code {code}"
    return spoken.decode("utf-8", "replace").strip() or why


def _read(stream: int, started: subprocess.Popen[bytes], deadline: float) -> Iterator[bytes]:
    """Yield a program's output until it ends; its children may hold the pipe for longer."""
    return read_in_time(
        stream, deadline, limit=_LAST_WORDS, ended=lambda: started.poll() is not None
    )


def _present(stream: IO[bytes] | None) -> IO[bytes]:
    assert stream is not None, "stdout is always a pipe"  # noqa: S101 - for the type checker
    return stream
