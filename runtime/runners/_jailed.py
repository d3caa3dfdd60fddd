"""A jail around an agent's workspace, which ends with the agent's run."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Generator

    from ..jail import Jail
    from ._bridge import Bridge
    from .protocol import Assignment

__all__ = ["jailed"]


@contextlib.contextmanager
def jailed(assignment: Assignment, bridge: Bridge, **options: Any) -> Generator[Jail]:
    """Open a jail whose work folder is the agent's workspace.

    Args:
        assignment: Whose workspace.
        bridge: When its run is cancelled, everything in the jail is killed.
        options: Passed to `Jails.open`.

    Raises:
        AgentError: There is no workspace.
        JailError: There is no jail on this machine.
    """
    with assignment.jails.open(assignment.workspace.path, **options) as jail:
        bridge.on_stop(jail.kill)
        yield jail
