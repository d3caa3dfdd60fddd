"""Searches with regular expressions that others wrote, in texts that others wrote.

There are short ones that take gigabytes, or hours, some before they have seen any text. So they are
searched with in a process of its own, which is ended where it takes too much, and kept where not.
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
"""Seconds of a processor that one search may take: the same search ends alike on a busy machine."""
SEARCH_MEMORY = 256 << 20
"""Bytes of memory that the process may take, with its interpreter and the text."""
_PROGRAM = Path(__file__).with_name("_searching.py")


class SearchTooLong(Exception):
    """A search took more than it may; the text says of what."""


class Searches:
    """A process that searches, started where it is first asked. Threads take turns."""

    def __init__(self) -> None:
        self._turn = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None

    def find(self, pattern: str, text: str) -> bool:
        """Return whether a pattern is found in a text.

        Raises:
            ValueError: The pattern is not valid; the text says why.
            SearchTooLong: The search took too much.
        """
        with self._turn:
            answer = self._ask_process(f"{json.dumps([pattern, text])}\n".encode())
        if isinstance(answer, bool):
            return answer
        raise ValueError(answer)

    def close(self) -> None:
        """End the process; another one is started where it is asked again."""
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
        """End the process, if there is one; give how it ended."""
        process, self._process = self._process, None
        if process is None:
            return None
        process.communicate()  # it ends where nobody can ask any more
        return process.returncode


@functools.cache
def searches() -> Searches:
    """Return the searches of this process; what they started ends with it."""
    result = Searches()
    atexit.register(result.close)
    return result
