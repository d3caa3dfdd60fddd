"""Work in processes and threads of its own, waited for to its end."""

import os
import signal
import subprocess
import sys
import threading
import traceback
import warnings
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, Never

from .failpoints import armed

ROOT = Path(__file__).parents[2]

KILLED = -signal.SIGKILL
"""The exit code of a process that SIGKILL ended."""


def python(*words: object, check: bool = False, **options: Any) -> subprocess.CompletedProcess[str]:
    """Run this interpreter with these words, and return what it printed."""
    command = [sys.executable, *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, check=check, **options)


def importing(folder: Path) -> dict[str, str]:
    """Return the environment of a program that imports from a folder, and from where we do."""
    path = [str(folder), *filter(None, [os.environ.get("PYTHONPATH")])]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(path)}


def with_tests() -> dict[str, str]:
    """Return the environment of a program that imports parts of these tests."""
    return importing(ROOT)


def at_once(work: Callable[..., object], each: Iterable[object]) -> None:
    """Do the work for each value, all at once in threads, and wait for all of them."""
    threads = [threading.Thread(target=work, args=(value,)) for value in each]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


class Child:
    """A process that does some work: a child of this one, which costs no start of Python.

    Args:
        work: What it does. It ends with exit code 0, that of a `SystemExit`, or 1 for other errors.
    """

    def __init__(self, work: Callable[[], object]) -> None:
        with warnings.catch_warnings():  # of 3.12 and later, of threads that only the parent has
            warnings.simplefilter("ignore", DeprecationWarning)
            self.id = os.fork()
        self._code: int | None = None
        if not self.id:
            work_and_exit(work)

    def has_ended(self) -> bool:
        if self._code is None:
            ended, status = os.waitpid(self.id, os.WNOHANG)
            self._code = os.waitstatus_to_exitcode(status) if ended else None
        return self._code is not None

    def kill(self) -> None:
        if not self.has_ended():
            os.kill(self.id, signal.SIGKILL)

    def wait(self) -> int:
        """Wait for its end; return its exit code, or minus the signal that ended it."""
        if self._code is None:
            self._code = os.waitstatus_to_exitcode(os.waitpid(self.id, 0)[1])
        return self._code


def work_and_exit(work: Callable[[], object]) -> Never:
    """Do the work of a child, and end it."""
    code = 1
    try:
        work()
        code = 0
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:  # noqa: BLE001 - nothing may go on with the code of the parent's test
        traceback.print_exc()
    finally:
        os._exit(code)


def in_children(work: Callable[[Any], object], each: Iterable[object]) -> None:
    """Do the work for each value, all at once in children of this process; none may fail."""
    children = [Child(lambda v=value: work(v)) for value in each]
    codes = [child.wait() for child in children]  # all, before one fails the test
    assert set(codes) == {0}, codes


def killed_at(failpoint: str, work: Callable[[], object]) -> bool:
    """Do the work in a child that SIGKILL ends at the failpoint; return whether it came there."""

    def armed_work() -> None:
        with armed(f"{failpoint}:kill"):
            work()

    code = Child(armed_work).wait()
    assert code in {0, KILLED}
    return code == KILLED
