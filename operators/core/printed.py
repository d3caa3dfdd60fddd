"""What a person reads who has an operator act once: `mas dev op`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .proposal import Proposal, RejectedProposal


@dataclass(frozen=True, kw_only=True, slots=True)
class Printed:
    """A result as it is printed: what a type's method `printed` returns.

    Attributes:
        value: A text, or anything that JSON has. It goes to standard output.
        notes: Lines for a person, which go to standard error.
    """

    value: Any
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Noted:
    """A child, or that there is none, with notes on what led to it.

    Attributes:
        proposal: The child, or why there is none.
    """

    proposal: Proposal | RejectedProposal
    notes: tuple[str, ...] = ()
