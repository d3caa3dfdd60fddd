"""What attempts of model calls cost, as a journal has it."""

from __future__ import annotations

from ...schema.values.codec import kept
from ..values.usage import Usage
from .costs import State


@kept()
class Attempt:
    """An attempt of a call.

    Attributes:
        usage: What it cost, or may have.
        state: Whether it is settled what it cost. What is lost or open may have cost the most.
        since: When it began, in seconds since the run did; None where that is not known.
        asked: The digest of a request in a batch, which another process can collect; else None.
    """

    usage: Usage
    state: State
    since: float | None = None
    until: float | None = None
    asked: str | None = None
