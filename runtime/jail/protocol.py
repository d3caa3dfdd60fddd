"""What a jail is to whoever uses one, be it on this machine or elsewhere."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Protocol, Self

from .limits import JailLimits


class AnyProcess(Protocol):
    """A command in a jail. Every method may be called from any thread.

    * Must show the end of a stream only after all that was written to it.
    * Must have all that was written to `stderr` before a piece of `stdout` ready to be read when
      that piece is.
    * Must leave nothing of the command alive when `wait` has given a code, or `kill` returns, as
      long as the machine that it runs on can be reached.
    """

    @property
    def stdin(self) -> IO[bytes] | None:
        """What the command reads, None if that is nothing."""
        ...

    @property
    def stdout(self) -> IO[bytes]:
        """What it writes."""
        ...

    @property
    def stderr(self) -> IO[bytes] | None:
        """The same for its second stream, None if both are one."""
        ...

    @property
    def stopped(self) -> str | None:
        """Why the host ended it, None while it did not."""
        ...

    @property
    def running(self) -> bool:
        """Whether the command has not ended yet."""
        ...

    def kill(self, reason: str) -> None:
        """End the command and all that it started, and return when nothing of it is left.

        Args:
            reason: Why, for whoever waits for the command. Only the first one counts.
        """
        ...

    def wait(self, seconds: float | None = None) -> int | None:
        """Wait for the end of the command and return its exit code; None if it still runs.

        It is 128 + the number of the signal if one ended it, as in a shell.

        Args:
            seconds: How long to wait; None: for ever.
        """
        ...

    def close(self) -> None:
        """End the command and give back the pipes to it."""
        ...


class AnyJail(Protocol):
    """A place for code that nobody has read. Every method may be called from any thread.

    * Must show the code the work folder at the path that it has here, and bring back what the code
      left there by the time that `close` returns.
    * Must raise `JailKilled` from `check` and `start` once it was killed or closed; `JailLost`
      where the machine with the jail is gone, and then from every other method but `kill`, too.
    """

    @property
    def work(self) -> Path:
        """The folder that the code may change, on this machine."""
        ...

    @property
    def limits(self) -> JailLimits:
        """The bounds of the code."""
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
            folder: Where it starts; None: the work folder.
            stdin: `subprocess.PIPE` or `DEVNULL`.
            stderr: `subprocess.PIPE` or `STDOUT`.

        Raises:
            JailKilled: The jail was killed or closed.
            JailError: It did not start.
        """
        ...

    def check(self) -> None:
        """Raise unless the jail can still be used.

        Raises:
            JailKilled: It was killed or closed.
        """
        ...

    def refresh(self) -> None:
        """Bring the work folder here up to date with what the code sees, if that is elsewhere.

        Raises:
            JailError: It cannot be brought.
        """
        ...

    def read_file(self, name: str, *, limit: int) -> bytes:
        """Return the content of a file of the work folder as it is now; see `workspace.read_file`.

        Raises:
            JailLost: The machine with the jail is gone.
            JailError: There is no such file, or it is too large.
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


@dataclass(frozen=True, kw_only=True, slots=True)
class JailRequest:
    """What the code in a jail has beside its work folder.

    Attributes:
        limits: Its bounds.
        readable: What is installed: it may read this, at the same path wherever jails are.
        host_folders: Folders of this machine that it may read at the same path.
        environment: Variables to add to the minimal environment, or to replace there.
        alias: Another path at which it finds the work folder, the same in every jail.
        own: More paths at which it finds a folder of the jail's own, empty at first.
        returns: Whether the work folder is to have, once the jail is closed, what the code left
            there. Where jails are elsewhere, it then need not be brought here.
    """

    limits: JailLimits = field(default_factory=JailLimits)
    readable: tuple[Path, ...] = ()
    host_folders: tuple[Path, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict[str, str])
    alias: Path | None = None
    own: tuple[Path, ...] = ()
    returns: bool = True


PLAIN = JailRequest()


class JailPlace(Protocol):
    """Where jails are opened. Every method may be called from any thread."""

    def check(self) -> None:
        """Make sure that jails can be had, before anything is spent.

        Raises:
            InputError: There are none; the message says why, and the ways out.
        """
        ...

    def describe(self) -> dict[str, Any]:
        """Say, for the record of a run, how code is confined there; see `Jails.describe`."""
        ...

    def open(self, work: Path, request: JailRequest) -> AnyJail:
        """Open a jail around a work folder.

        Raises:
            JailError: There is none to be had, or the folder cannot be used.
        """
        ...

    def close(self) -> None:
        """Give back what the jails were in."""
        ...
