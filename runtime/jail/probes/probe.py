"""What an attack is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..battery import Scene
    from ..code.worker import CellResult


@dataclass(frozen=True, kw_only=True, slots=True)
class Probe:
    """One attack.

    Attributes:
        name: what reports call it.
        code: the cell.
        check: returns what the attack gained, read from the host after the cell; an empty text if
            nothing. None: the value of the cell is the gain.
        timeout: seconds that the cell gets.
        harmless: whether it may run where no jail holds it.
        alone: whether it needs a jail of its own: it leaves something there that may be in the way
            of other attacks.
    """

    name: str
    code: str
    check: Callable[[Scene, CellResult], str] | None = None
    timeout: float = 20.0
    harmless: bool = True
    alone: bool = True


def went_on(_: Scene, execution: CellResult) -> str:
    """Check that the cell did not reach its end."""
    return "" if execution.error else "the cell ended as if nothing had happened"
