"""What an attack is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from ..limits import Limits
    from ..worker import Execution

__all__ = ["Probe", "Surroundings", "went_on"]


class Surroundings(Protocol):
    """What a check may look at.

    Attributes:
        work: the jail's work folder.
        limits: the jail's bounds.
        token: the text of the host's secret.
        calls: how often the attack called the tool that it is granted.
    """

    work: Path
    limits: Limits
    token: str
    calls: int

    def survivors(self) -> list[str]:
        """Return the processes on the host that carry the mark of this attack."""
        ...


@dataclass(frozen=True, kw_only=True, slots=True)
class Probe:
    """One attack.

    Attributes:
        name: what reports call it.
        attempt: what it tries, as a phrase.
        code: the cell.
        check: returns what the attack gained, read from the host after the cell; an empty text if
            nothing. None: the value of the cell is the gain.
        timeout: seconds that the cell gets.
        harmless: whether it may run where no jail holds it.
        alone: whether it needs a jail of its own: it leaves something there that may be in the way
            of other attacks.
    """

    name: str
    attempt: str
    code: str
    check: Callable[[Surroundings, Execution], str] | None = None
    timeout: float = 20.0
    harmless: bool = True
    alone: bool = True


def went_on(_: Surroundings, execution: Execution) -> str:
    """Check that the cell did not reach its end."""
    return "" if execution.error else "the cell ended as if nothing had happened"
