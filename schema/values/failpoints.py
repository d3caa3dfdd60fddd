"""Places where a test can make a process die, fail or hang.

Each stands just before or just after something that must be on disk: a flush, a rename, a commit.
Nothing happens there but in tests, which say in `ACTS` what is to happen.
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
"""Every place. A new one is declared here first."""

ACTS: list[Callable[[Failpoint], None]] = []
"""What happens at each place; empty but in tests."""


def failpoint(name: Failpoint) -> None:
    """Say that the process has come to this place."""
    for act in ACTS:
        act(name)
