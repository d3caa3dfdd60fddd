"""The cost of model call attempts in a journal."""

from __future__ import annotations

from ...schema.values.codec import stored
from ..values.usage import Usage
from .costs import State


@stored()
class Attempt:
    """An attempt of a call.

    Attributes:
        usage: Its cost, or the highest possible one.
        state: Whether the cost is settled. A lost or open attempt may have cost the most.
        since: When it began, in seconds since the run did; None if unknown.
        asked: The digest of a request in a batch, which another process can collect; else None.
    """

    usage: Usage
    state: State
    since: float | None = None
    until: float | None = None
    asked: str | None = None
