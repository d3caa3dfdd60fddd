"""The host's choice of jails for one run."""

from __future__ import annotations

import os
import platform
import weakref
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any, Protocol, TypeVar

from ...schema.values.errors import InputError, JailError
from .detect import detect
from .jail import Jail
from .protocol import PLAIN, AnyJail, JailPlace, JailRequest
from .tiers import Unconfined
from .watch import DiskShare

DISK = 4 << 30


class Lasting(Protocol):
    """What stays open from one use of some jails to the next."""

    def close(self) -> None:
        """End it; whoever uses it meanwhile hears of it by a `JailKilled`."""
        ...


T = TypeVar("T", bound=Lasting)


class Jails:
    """Opens jails for the agents of a run.

    Args:
        unsafe: Run code without a jail, with all rights of the user. Only a person may decide
            that, never a team file.
        disk: Bytes by which the files of all these jails together may grow, those of closed ones
            included. One that still writes beyond it is killed.
        place: Where they are opened; None: on this machine. It is closed by whoever made it.
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
        """Whether they are on other machines, which can be lost."""
        return self._place is not None

    def check(self) -> None:
        """Make sure that jails can be had, before anything is spent.

        Raises:
            InputError: There are none; the message says why, and the ways out.
        """
        if self._place is not None:
            self._place.check()
        elif not self.unsafe and detect().tier is None:
            raise InputError(str(detect()))

    def describe(self) -> dict[str, Any]:
        """Say, for the record of a run, how code is confined here and how that was proven.

        The first call in a process tests the machine's jail, which takes a moment.

        Returns:
            What JSON can hold: `tier` (None: there is no jail), `confines`, `version` of the
            tier's means, `kernel`, `own_user` (whether each jail is a user of its own), and
            `attempts`: the tiers that were tried, each with its `failure` or None.
        """
        if self._place is not None:
            return self._place.describe()
        report = None if self.unsafe else detect()
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

    def open(self, work: Path, request: JailRequest = PLAIN) -> AnyJail:
        """Open the best jail that there is around a work folder, which the code may change.

        Raises:
            JailError: There is no jail, or the folder cannot be used.
        """
        if self._place is not None:
            return self._place.open(work, request)
        # What needs places of its own has no other way to run, so `unsafe` does not count then.
        needs_places = request.alias or request.own
        tier = Unconfined() if self.unsafe and not needs_places else detect().tier
        if tier is None:
            raise JailError(str(detect()))
        return Jail(work, request, tier=tier, share=self._share)

    def lasting(self, name: str, make: Callable[[], T]) -> T:
        """Return what is made once for these jails, such as an interpreter that has read a library.

        Args:
            name: What it is called: whoever asks by that name gets the same.
            make: Makes it; it has to be quick and **must not** refer to these jails.
        """
        if name not in self._lasting:
            self._lasting.setdefault(name, make())
        return self._lasting[name]

    def close(self) -> None:
        """End what lasts; it is made anew where it is asked for again."""
        _close_all(self._lasting)


def _close_all(lasting: dict[str, Any]) -> None:
    while lasting:
        lasting.popitem()[1].close()
