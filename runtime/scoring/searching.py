"""Searches foreign texts with foreign regular expressions.

Short expressions can take gigabytes, or hours, some before they have seen any text. So the search
runs in a process of its own, which is killed if it takes too much, and reused if not.
"""

from __future__ import annotations

import atexit
import functools
import json
import signal
import subprocess
import sys
import threading
from pathlib import Path

SEARCH_SECONDS = 1.0
"""Processor seconds that one search may take, so that it ends the same way on a busy machine."""
SEARCH_MEMORY = 256 << 20
"""Bytes of memory that the process may take, with its interpreter and the text."""
_PROGRAM = Path(__file__).with_name("_searching.py")


class SearchTooLong(Exception):
    """A search exceeded a limit; the text says which."""


class Searches:
    """A process that searches, started on first use. Threads take turns."""

    def __init__(self) -> None:
        self._turn = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None

    def find(self, pattern: str, text: str) -> bool:
        """Return whether a pattern matches somewhere in a text.

        Raises:
            ValueError: The pattern is not valid; the text says why.
            SearchTooLong: The search exceeded a limit.
        """
        with self._turn:
            answer = self._ask_process(f"{json.dumps([pattern, text])}\n".encode())
        if isinstance(answer, bool):
            return answer
        raise ValueError(answer)

    def close(self) -> None:
        """End the process; the next search starts another one."""
        with self._turn:
            self._end()

    def _ask_process(self, question: bytes) -> bool | str:
        process = self._process or self._start()
        assert process.stdin is not None and process.stdout is not None  # noqa: S101, PT018
        try:
            process.stdin.write(question)
            process.stdin.flush()
        except BrokenPipeError:
            answer = b""
        else:
            answer = process.stdout.readline()
        if answer:
            return json.loads(answer)
        spent = self._end() == -signal.SIGPROF
        most = f"{SEARCH_SECONDS:g} s" if spent else f"{SEARCH_MEMORY >> 20} MB"
        raise SearchTooLong(f"it takes more than {most}")

    def _start(self) -> subprocess.Popen[bytes]:
        setup = json.dumps([[name for name in sys.path if name], SEARCH_SECONDS, SEARCH_MEMORY])
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-S", str(_PROGRAM), setup],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={},
        )
        return self._process

    def _end(self) -> int | None:
        """End the process, if it runs, and return how it ended."""
        process, self._process = self._process, None
        if process is None:
            return None
        process.communicate()  # it ends where nobody can ask any more
        return process.returncode


@functools.cache
def searches() -> Searches:
    """Return the searches of this process, which are closed when it ends."""
    result = Searches()
    atexit.register(result.close)
    return result
