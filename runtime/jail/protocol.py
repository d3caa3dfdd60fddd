"""The interface of jails, on this machine or elsewhere."""

from __future__ import annotations

import subprocess
from typing import IO, TYPE_CHECKING, Any, Protocol, Self

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path
    from types import TracebackType

    from .request import JailLimits, JailRequest


class AnyProcess(Protocol):
    """A command in a jail. Every method may be called from any thread.

    * Must signal the end of a stream only after all data written to it.
    * Must make everything written to `stderr` before a piece of `stdout` readable no later than
      that piece.
    * Must leave no process of the command alive once `wait` returns a code, or `kill` returns. This
      holds while the machine that it runs on can be reached.
    """

    @property
    def stdin(self) -> IO[bytes] | None:
        """The command's standard input; None if it reads nothing."""
        ...

    @property
    def stdout(self) -> IO[bytes]:
        """The command's standard output."""
        ...

    @property
    def stderr(self) -> IO[bytes] | None:
        """The command's standard error; None if merged into `stdout`."""
        ...

    @property
    def stopped(self) -> str | None:
        """Why the host ended it; None if it did not."""
        ...

    @property
    def running(self) -> bool:
        """Whether the command has not ended yet."""
        ...

    def kill(self, reason: str) -> None:
        """End the command and all its descendants, and return when none are left.

        Args:
            reason: Why, for callers that wait for the command. Only the first reason counts.
        """
        ...

    def wait(self, seconds: float | None = None) -> int | None:
        """Wait for the end of the command and return its exit code; None if it still runs.

        If a signal ended it, the code is 128 + the signal's number, as in a shell.

        Args:
            seconds: How long to wait; None for no limit.
        """
        ...

    def close(self) -> None:
        """End the command and close the pipes to it."""
        ...


class AnyJail(Protocol):
    """A place to run untrusted code. Every method may be called from any thread.

    * Must show the code the work folder at the path that it has here.
    * Must bring back the code's changes by the time that `close` returns.
    * Must raise `JailKilled` from `check` and `start` once it was killed or closed. Must raise
      `JailLost` if the machine with the jail is gone, and then from every other method but `kill`,
      too.
    """

    @property
    def work(self) -> Path:
        """The folder that the code may change, on this machine."""
        ...

    @property
    def limits(self) -> JailLimits:
        """The limits of the code."""
        ...

    def start(
        self,
        command: Sequence[str],
        *,
        folder: Path | None = None,
        stdin: int = subprocess.DEVNULL,
        stderr: int = subprocess.STDOUT,
    ) -> AnyProcess:
        """Start a command in the jail.

        Args:
            command: The program, as the jail sees it, and its arguments.
            folder: Where it starts; None for the work folder.
            stdin: `subprocess.PIPE` or `DEVNULL`.
            stderr: `subprocess.PIPE` or `STDOUT`.

        Raises:
            JailKilled: The jail was killed or closed.
            JailError: The command did not start.
        """
        ...

    def check(self) -> None:
        """Raise if the jail is no longer usable.

        Raises:
            JailKilled: It was killed or closed.
        """
        ...

    def refresh(self) -> None:
        """Update the work folder here to the code's view of it, if that is elsewhere.

        Raises:
            JailError: The files cannot be brought here.
        """
        ...

    def read_file(self, name: str, *, limit: int) -> bytes:
        """Return the current content of a file in the work folder; see `workspace.read_file`.

        Raises:
            JailLost: The machine with the jail is gone.
            JailError: The file does not exist, or is too large.
        """
        ...

    def kill(self, reason: str = "the host killed it") -> None:
        """End every process of the jail for good. Calls that wait for one raise `JailKilled`."""
        ...

    def close(self) -> None:
        """End every process; the work folder is then the host's again."""
        ...

    def __enter__(self) -> Self:
        """Return the jail; leaving the block closes it."""
        ...

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
        /,
    ) -> None:
        """Close it."""
        ...


class JailPlace(Protocol):
    """A place to open jails. Every method may be called from any thread."""

    def check(self) -> None:
        """Check that jails are available, before the run spends anything.

        Raises:
            InputError: No jail is available; the message gives the reason and the alternatives.
        """
        ...

    def describe(self) -> dict[str, Any]:
        """Describe, for the record of a run, how code is confined there; see `Jails.describe`."""
        ...

    def open(self, work: Path, request: JailRequest) -> AnyJail:
        """Open a jail around a work folder.

        Raises:
            JailError: No jail is available, or the folder cannot be used.
        """
        ...

    def close(self) -> None:
        """Release the resources of the jails."""
        ...
