"""Commands as people run them: on a terminal, where Ctrl-C is a key."""

import contextlib
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from ..waiting import PATIENCE, wait_for

LOGIN = """
import os, sys
os.login_tty(0)
os.set_inheritable(int(sys.argv[1]), False)
os.execv(sys.argv[2], sys.argv[2:])
"""
CTRL_C = b"\x03"


@dataclass(kw_only=True, eq=False)
class OnTerminal:
    """A command that runs on a terminal of its own.

    Attributes:
        shown: What it has written to the terminal until now.
    """

    process: subprocess.Popen[bytes]
    folder: Path
    keyboard: int
    shown: bytearray = field(default_factory=bytearray)

    def press_ctrl_c(self) -> None:
        """Press Ctrl-C; nothing happens once the terminal is closed."""
        with contextlib.suppress(OSError):
            os.write(self.keyboard, CTRL_C)

    def terminate(self) -> None:
        """Send SIGTERM, to the command alone."""
        self.process.send_signal(signal.SIGTERM)

    def wait(self) -> int:
        """Wait for the end; give the exit code, or the negative number of the signal."""
        try:
            return self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"it does not end; it shows {self.shown.decode()!r}") from None

    def left_over(self) -> list[str]:
        """The processes that are left a while after the end. Empty where there is no /proc."""
        with contextlib.suppress(AssertionError):
            wait_for(lambda: not self._descendants(), "")
        return self._descendants()

    def _descendants(self) -> list[str]:
        """Find the processes of the command's session, and those that work in its folder."""
        own = (self.process.pid, str(self.folder))
        return [name for name in _processes() if _session(name) == own[0] or own[1] in _line(name)]

    def read(self) -> None:
        """Take what is shown, until the terminal is closed."""
        with contextlib.suppress(OSError):  # how Linux says that nobody writes any more
            while shown := os.read(self.keyboard, 65_536):
                self.shown += shown


@contextmanager
def on_terminal(
    command: Sequence[str], *, cwd: Path, environment: Mapping[str, str]
) -> Generator[OnTerminal]:
    """Run a command on a terminal; it is killed where it outlives the block."""
    keyboard, terminal = os.openpty()
    closed, open_until_ready = os.pipe()
    process = subprocess.Popen(
        [
            *(sys.executable, "-I", "-S", "-c", LOGIN, str(open_until_ready)),
            *(sys.executable, *command),
        ],
        stdin=terminal,
        cwd=cwd,
        env={**os.environ, **environment},
        pass_fds=[open_until_ready],
    )
    os.close(terminal)
    os.close(open_until_ready)
    os.read(closed, 1)  # until then, no key that is pressed reaches anyone
    os.close(closed)
    running = OnTerminal(process=process, folder=cwd, keyboard=keyboard)
    reading = threading.Thread(target=running.read, name="terminal")
    reading.start()
    try:
        yield running
    finally:
        with process:
            process.kill()
        reading.join()
        os.close(keyboard)


def _processes() -> list[str]:
    return [entry.name for entry in Path("/proc").glob("[0-9]*")]


def _session(name: str) -> int | None:
    with contextlib.suppress(ProcessLookupError):
        return os.getsid(int(name))
    return None


def _line(name: str) -> str:
    with contextlib.suppress(OSError):
        return Path("/proc", name, "cmdline").read_bytes().replace(b"\0", b" ").decode()
    return ""
