"""What attempts of model calls cost, as a journal has it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ...schema.values.codec import kept
from ..values.usage import Usage

__all__ = ["Attempt", "FailedCall"]


@kept()
@dataclass(frozen=True, kw_only=True, slots=True)
class FailedCall:
    """A call that ended without an answer.

    Attributes:
        usage: What it cost, or may have.
    """

    usage: Usage


@kept()
@dataclass(frozen=True, kw_only=True, slots=True)
class Attempt(FailedCall):
    """An attempt of a call.

    Attributes:
        state: Whether it is settled what it cost. What is lost or open may have cost the most.
    """

    state: Literal["open", "settled", "lost"]
