"""Work in processes and threads of its own, waited for to its end."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from .failpoints import armed

ROOT = Path(__file__).parents[2]


def python(*words: object, check: bool = False, **options: Any) -> subprocess.CompletedProcess[str]:
    """Run this interpreter with these words, and return what it printed."""
    command = [sys.executable, *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, check=check, **options)


def with_tests() -> dict[str, str]:
    """Return the environment of a program that imports parts of these tests."""
    return {**os.environ, "PYTHONPATH": str(ROOT)}


def at_once(work: Callable[..., object], each: Iterable[object]) -> None:
    """Do the work for each value, all at once in threads, and wait for all of them."""
    threads = [threading.Thread(target=work, args=(value,)) for value in each]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def killed_at(failpoint: str, work: Callable[[], object]) -> bool:
    """Do the work in a child that SIGKILL ends at the failpoint; return whether it came there."""
    if not (child := os.fork()):
        with armed(f"{failpoint}:kill"):
            work()
        os._exit(0)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert code in {0, -signal.SIGKILL}
    return code != 0
