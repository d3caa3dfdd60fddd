"""Makes this process die, fail or hang at a failpoint of the package.

A setting `NAME:N:ACTION` acts the N-th time that the process comes to NAME. `kill` ends the process
as a failing machine would, `raise-enospc` and `raise-eio` raise what a full or a broken disk
raises, `hang` stays there for ever. `count:FILE` does nothing but append to FILE the name of each
place that is come to. An empty setting does nothing at all.
"""

import errno
import os
import signal
import threading
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from pathlib import Path
from typing import get_args

from coterie.schema.values.failpoints import ACTS, Failpoint

FAILPOINTS: frozenset[str] = frozenset(get_args(Failpoint))


@contextmanager
def armed(setting: str) -> Generator[None]:
    """Do in this process, and in those that it forks, what a setting says, and nothing else."""
    before = ACTS.copy()
    try:
        ACTS[:] = [_act(setting)] if setting else []
        yield
    finally:
        ACTS[:] = before


def _act(setting: str) -> Callable[[Failpoint], None]:
    name, _, rest = setting.partition(":")
    if name == "count" and rest:
        return _Count(Path(rest))
    number, _, action = rest.partition(":")
    assert name in FAILPOINTS, setting
    return _Act(name=name, number=int(number), action=ACTIONS[action])


@dataclass(frozen=True, slots=True)
class _Count:
    """Writes down each place at once, so that nothing is lost however the process ends."""

    path: Path

    def __call__(self, name: Failpoint, /) -> None:
        with self.path.open("a", encoding="utf-8") as stream:
            stream.write(f"{name}\n")


@dataclass(frozen=True, kw_only=True, slots=True)
class _Act:
    """Acts at one place, the N-th time that it is come to."""

    name: str
    number: int
    action: Callable[[], None]
    _visits: Iterator[int] = field(default_factory=lambda: count(1))

    def __call__(self, name: Failpoint, /) -> None:
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
