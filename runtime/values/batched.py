"""Attempts of calls that ask in a batch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .usage import Usage


@dataclass(frozen=True, kw_only=True, slots=True)
class BatchedAttempt:
    """An attempt of a call that asks in a batch.

    Attributes:
        id: What its request is called in the batch.
        number: Its place among the attempts of the call.
        asked: The digest of the request.
        deposited: The most that it can cost, where an earlier process left it open; else None.
    """

    id: str
    number: str
    asked: str
    deposited: Usage | None = None
