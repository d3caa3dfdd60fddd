"""The host's choice of jails for one run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...schema.errors import InputError
from .detect import detect, open_jail

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from .jail import Jail
    from .limits import Limits

__all__ = ["Jails"]


class Jails:
    """Opens jails for the agents of a run.

    Args:
        unsafe: Run code without a jail, with all rights of the user. Only a person may decide
            that, never a team file.
    """

    def __init__(self, *, unsafe: bool = False) -> None:
        self.unsafe = unsafe

    def check(self) -> None:
        """Make sure that jails can be had, before anything is spent.

        Raises:
            InputError: This machine has none; the message says why, and the ways out.
        """
        if not self.unsafe and detect().tier is None:
            raise InputError(str(detect()))

    def open(
        self,
        work: Path,
        *,
        limits: Limits | None = None,
        readable: Iterable[Path] = (),
        environment: Mapping[str, str] | None = None,
    ) -> Jail:
        """Open a jail around a work folder; see `open_jail`.

        Raises:
            JailError: There is no jail on this machine, or the folder cannot be used.
        """
        return open_jail(
            work, unsafe=self.unsafe, limits=limits, readable=readable, environment=environment
        )
