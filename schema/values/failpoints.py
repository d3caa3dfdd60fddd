"""Places where a test can make a process die, fail or hang.

Each is just before or just after data must be on disk: a flush, a rename, a commit. Nothing happens
there except in tests, which set the action in `ACTS`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

Failpoint = Literal[
    # A file that is written whole.
    "files.write.before",
    "files.write.flushed",
    "files.write.replaced",
    # What goes to the end of a file, or away from there.
    "files.append.before",
    "files.append.written",
    "files.append.after",
    "files.truncate.before",
    "files.truncate.after",
    # A file that gets another name.
    "files.rename.before",
    "files.rename.after",
    # A file, or the names in a folder, made to last.
    "files.sync.before",
    "files.sync.after",
    # Entries of a run's journal.
    "journal.append.before",
    "journal.append.after",
]
"""The names of all places. A new one is declared here first."""

ACTS: list[Callable[[Failpoint], None]] = []
"""The action at each place; empty except in tests."""


def failpoint(name: Failpoint) -> None:
    """Run the action of a place, if a test set one."""
    for act in ACTS:
        act(name)
