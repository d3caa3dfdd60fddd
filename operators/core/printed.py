"""The results that `mas dev op` prints."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .proposal import Proposal, RejectedProposal


@dataclass(frozen=True, kw_only=True, slots=True)
class Printed:
    """A result in its printed form; the `printed` method of a result type returns it.

    Attributes:
        value: A text or a JSON value, for standard output.
        notes: Lines for the user, for standard error.
    """

    value: Any
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Noted:
    """A child or a rejection, with notes on how it was reached.

    Attributes:
        proposal: The child, or the reason why there is none.
    """

    proposal: Proposal | RejectedProposal
    notes: tuple[str, ...] = ()
