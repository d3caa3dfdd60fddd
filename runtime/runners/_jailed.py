"""A jail around an agent's workspace, which ends with the agent's run."""

from __future__ import annotations

import contextlib
import functools
from typing import TYPE_CHECKING, Any, TypeVar

from ...schema.values.errors import AgentError
from ...schema.values.values import parts

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Mapping

    from ..agents.runner import Assignment
    from ..jail import AnyJail, JailRequest
    from .bridge import Bridge

T = TypeVar("T")


@contextlib.contextmanager
def jailed(assignment: Assignment, bridge: Bridge, request: JailRequest) -> Generator[AnyJail]:
    """Open a jail whose work folder is the agent's workspace.

    Args:
        bridge: Cancelling its run kills everything in the jail.

    Raises:
        AgentError: There is no workspace, or the code left more there than can be transferred here.
        JailLost: The jail's machine is gone; the agent can be run again.
        JailError: No jail is available.
    """
    from ..jail.tree import Overgrown

    try:
        with _waiting(assignment, bridge):
            jail = assignment.jails.open(assignment.workspace.path, request)
        with jail:
            bridge.on_stop(jail.kill)
            assignment.workspace.jail = jail
            yield jail
    except Overgrown as error:  # the agent's code is the cause, not this host
        raise AgentError(str(error)) from error


@contextlib.contextmanager
def _waiting(assignment: Assignment, bridge: Bridge) -> Generator[None]:
    """Count as waiting while the host copies a repository and starts a jail."""
    wait = assignment.waiting()
    bridge.tell(wait.__enter__)
    try:
        yield
    finally:
        bridge.tell(functools.partial(wait.__exit__, None, None, None))


def recording(
    assignment: Assignment, bridge: Bridge, form: Callable[..., T]
) -> Callable[[str, T], T]:
    """Return a function that records outcomes of an agent's code, and replays recorded ones.

    Args:
        form: The dataclass of an outcome; its fields are JSON-able.
    """

    def record(code: str, outcome: T) -> T:
        async def recorded_parts() -> Mapping[str, Any]:
            return parts(outcome)

        return form(**bridge.wait(assignment.once("code", code, recorded_parts)))

    return record
