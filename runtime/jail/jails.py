"""The jails of one run, and the moves of an agent whose jail was lost."""

from __future__ import annotations

import os
import platform
import threading
import weakref
from collections.abc import Awaitable, Callable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from ...schema.values.errors import InputError, JailError

if TYPE_CHECKING:
    from .detect import JailReport
    from .protocol import AnyJail, JailPlace
    from .request import JailRequest

DISK = 4 << 30
MOST_MOVES = 5
"""The most moves of one agent or one verdict: losing every machine is no accident."""


class Lasting(Protocol):
    """A resource that stays open from one use of some jails to the next."""

    def close(self) -> None:
        """Release it; concurrent users get a `JailKilled`."""
        ...


T = TypeVar("T")
LastingT = TypeVar("LastingT", bound=Lasting)


class DiskShare:
    """The disk limit that several jails share, closed ones included."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self._turn = threading.Lock()
        self._grown: dict[object, int] = {}

    def exceeded(self, jail: object, grown: int) -> bool:
        """Record a jail's growth, and return whether all together exceed the limit."""
        with self._turn:
            self._grown[jail] = grown
            return sum(self._grown.values()) > self.limit


class Jails:
    """Opens jails for the agents of a run.

    Args:
        unsafe: Run code without a jail, with all rights of the user. Only a person may decide that,
            never a team file.
        disk: Bytes by which the files of all these jails together may grow, closed jails included.
            A jail that still writes beyond that is killed.
        place: Where to open them; None for this machine. Its creator closes it.
    """

    def __init__(
        self, *, unsafe: bool = False, disk: int = DISK, place: JailPlace | None = None
    ) -> None:
        self.unsafe = unsafe
        self._place = place
        self._share = DiskShare(disk)
        self._lasting: dict[str, Any] = {}
        # Not at the interpreter's end: the kernel has ended the processes of a jail by then.
        weakref.finalize(self, _close_all, self._lasting).atexit = False

    @property
    def elsewhere(self) -> bool:
        """Whether the jails are on other machines, which can be lost."""
        return self._place is not None

    def check(self) -> None:
        """Check that jails are available, before the run spends anything.

        Raises:
            InputError: No jail is available; the message gives the reason and the alternatives.
        """
        if self._place is not None:
            self._place.check()
        elif not self.unsafe and _detected().tier is None:
            raise InputError(str(_detected()))

    def describe(self) -> dict[str, Any]:
        """Describe, for the record of a run, how code is confined here and how that was proven.

        The first call in a process tests the machine's jail, which takes a moment.

        Returns:
            A JSON-able value: `tier` (None without a jail), `confines`, `version` of the tier's
            means, `kernel`, `own_user` (whether each jail has its own user), and `attempts`: the
            tiers that were tried, each with its `failure` or None.
        """
        if self._place is not None:
            return self._place.describe()
        from .tiers import Unconfined

        report = None if self.unsafe else _detected()
        tier = Unconfined() if report is None else report.tier
        confines = tier is not None and tier.confines
        return {
            "tier": tier and tier.name,
            "confines": confines,
            "version": report.version if report else Unconfined().version(),
            "kernel": platform.release(),
            "own_user": confines and os.geteuid() == 0,
            "attempts": [asdict(attempt) for attempt in report.attempts] if report else [],
        }

    def open(self, work: Path, request: JailRequest | None = None) -> AnyJail:
        """Open the best available jail around a work folder, which the code may change.

        Raises:
            JailError: No jail is available, or the folder cannot be used.
        """
        from .request import PLAIN

        request = request or PLAIN
        if self._place is not None:
            return self._place.open(work, request)
        from .jail import Jail
        from .tiers import Unconfined

        # Code that needs its own places can only run in a jail, so `unsafe` does not apply.
        needs_places = request.alias or request.own
        tier = Unconfined() if self.unsafe and not needs_places else _detected().tier
        if tier is None:
            raise JailError(str(_detected()))
        return Jail(work, request, tier=tier, share=self._share)

    def lasting(self, name: str, make: Callable[[], LastingT]) -> LastingT:
        """Return a resource that these jails share, such as an interpreter with imported libraries.

        Args:
            name: The key; calls with the same name get the same resource.
            make: Creates it; must be quick and **must not** refer to these jails.
        """
        if name not in self._lasting:
            self._lasting.setdefault(name, make())
        return self._lasting[name]

    def close(self) -> None:
        """Release the lasting resources; a later request creates them again."""
        _close_all(self._lasting)


class Moves:
    """The moves of one agent to new jails, each after the machine with the old one was lost.

    The agent runs again as the same attempt. The journal replays its previous answers, so it
    reaches the same state without asking anyone twice. Without a journal, memory replays them.

    Args:
        remembers: Whether to keep previous answers in memory, because no journal does.
    """

    def __init__(self, *, remembers: bool) -> None:
        self.count = 0
        self._answers: dict[str, object] | None = {} if remembers else None
        self._counted: set[str] = set()

    def again(self) -> bool:
        """Record the loss of a jail, and return whether the agent may move once more."""
        self.count += 1
        return self.count <= MOST_MOVES

    def counts(self, path: str) -> bool:
        """Return whether to count an answer now: each counts once, however often it is replayed."""
        is_new = path not in self._counted
        self._counted.add(path)
        return is_new

    async def once(self, path: str, work: Callable[[], Awaitable[T]]) -> T:
        """Return the answer recorded under a path before the agent moved, or obtain it."""
        if self._answers is None:
            return await work()
        if path not in self._answers:
            self._answers[path] = await work()
        return self._answers[path]  # type: ignore[return-value] # the same path, the same kind


def _detected() -> JailReport:
    from .detect import detect  # only when code is to run: it imports all of the jail

    return detect()


def _close_all(lasting: dict[str, Any]) -> None:
    while lasting:
        lasting.popitem()[1].close()
