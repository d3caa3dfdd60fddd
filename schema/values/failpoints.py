"""Places where a test can make a process die, fail or hang.

Each stands just before or just after something that must be on disk: a flush, a rename, a commit.
`MAS_FAILPOINT` in the environment of a process, and of those that it starts, arms one of them:

* `NAME:N:ACTION` acts the N-th time that the process comes to NAME. `kill` ends the process as a
  failing machine would, `raise-enospc` and `raise-eio` raise what a full or a broken disk raises,
  `hang` stays there for ever.
* `count:FILE` does nothing but append to FILE the name of each place that is come to.
"""

from __future__ import annotations

import errno
import os
import signal
import threading
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache, partial
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Protocol, get_args

from .errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator, Mapping

__all__ = ["ACTIONS", "FAILPOINTS", "VARIABLE", "Failpoint", "armed", "failpoint"]

VARIABLE = "MAS_FAILPOINT"

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
    "journal.commit.before",
    "journal.commit.after",
]
"""Every place. A new one is declared here first."""

FAILPOINTS: frozenset[str] = frozenset(get_args(Failpoint))


def failpoint(name: Failpoint) -> None:
    """Say that the process has come to this place; nothing happens but in tests.

    Raises:
        OSError: A test wants the disk to be full or broken here.
        InputError: MAS_FAILPOINT cannot be read.
    """
    if (switch := _switch()) is not None:
        switch(name)


@contextmanager
def armed(setting: str) -> Generator[None]:
    """Set MAS_FAILPOINT for this process and those that it starts, and begin to count anew.

    Raises:
        InputError: The setting cannot be read.
    """
    before = os.environ.get(VARIABLE)
    try:
        _set(setting)
        _switch()
        yield
    finally:
        _set(before)


def _set(setting: str | None) -> None:
    if setting is None:
        os.environ.pop(VARIABLE, None)
    else:
        os.environ[VARIABLE] = setting
    _switch.cache_clear()


class _Switch(Protocol):
    """What happens where the process has come to."""

    def __call__(self, name: str, /) -> None: ...


@cache
def _switch() -> _Switch | None:
    """Read the environment once, so that a failpoint costs one look at a cache."""
    setting = os.environ.get(VARIABLE)
    if not setting:
        return None
    name, _, rest = setting.partition(":")
    if name == "count" and rest:
        return _Count(Path(rest))
    number, _, action = rest.partition(":")
    if name in FAILPOINTS and number.isdecimal() and int(number) > 0 and action in ACTIONS:
        return _Act(name=name, number=int(number), action=ACTIONS[action])
    raise InputError(
        f"{VARIABLE}={setting!r} is not NAME:N:ACTION or count:FILE. N counts from 1. ACTION is one"
        f" of {', '.join(ACTIONS)}. NAME is one of {', '.join(sorted(FAILPOINTS))}."
    )


@dataclass(frozen=True, slots=True)
class _Count:
    """Writes down each place at once, so that nothing is lost however the process ends."""

    path: Path

    def __call__(self, name: str, /) -> None:
        with self.path.open("a", encoding="utf-8") as stream:
            stream.write(f"{name}\n")


@dataclass(frozen=True, kw_only=True, slots=True)
class _Act:
    """Acts at one place, the N-th time that it is come to."""

    name: str
    number: int
    action: Callable[[], None]
    _visits: Iterator[int] = field(default_factory=lambda: count(1))

    def __call__(self, name: str, /) -> None:
        if name == self.name and next(self._visits) == self.number:
            self.action()


def _kill() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def _fail(number: int) -> None:
    raise OSError(number, os.strerror(number))


def _hang() -> None:
    threading.Event().wait()


ACTIONS: Mapping[str, Callable[[], None]] = {
    "kill": _kill,
    "raise-enospc": partial(_fail, errno.ENOSPC),
    "raise-eio": partial(_fail, errno.EIO),
    "hang": _hang,
}
