"""What an attack is."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..battery import Scene
    from ..code.worker import CellResult


Check = Callable[["Scene", "CellResult"], str]


@dataclass(frozen=True, kw_only=True, slots=True)
class Probe:
    """One attack.

    Attributes:
        check: returns what the attack gained, read from the host after the cell; an empty text if
            nothing. None: the value of the cell is the gain.
        timeout: seconds that the cell gets.
        harmless: whether it may run where no jail holds it.
        alone: whether it needs a jail of its own: it leaves something there that may be in the way
            of other attacks.
    """

    name: str
    code: str
    check: Check | None = None
    timeout: float = 20.0
    harmless: bool = True
    alone: bool = True


def probes(
    cells: Mapping[str, str],
    *,
    checks: Mapping[str, Check] = MappingProxyType({}),
    timeouts: Mapping[str, float] = MappingProxyType({}),
    harmful: Collection[str] = (),
    alone: bool = True,
) -> tuple[Probe, ...]:
    """Make attacks of their cells; what else is said of some stands under their names."""
    return tuple(
        Probe(
            name=name,
            code=code,
            check=checks.get(name),
            timeout=timeouts.get(name, 20.0),
            harmless=name not in harmful,
            alone=alone,
        )
        for name, code in cells.items()
    )


def went_on(_: Scene, execution: CellResult) -> str:
    """Check that the cell did not reach its end."""
    return "" if execution.error else "the cell ended as if nothing had happened"
