"""The form of an attack."""

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
        check: returns the attack's gain, read from the host after the cell; an empty text if
            nothing. None if the cell's value is the gain.
        timeout: seconds that the cell gets.
        harmless: whether it may run without a jail.
        alone: whether it needs its own jail, because it leaves something there that may disturb
            other attacks.
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
    """Create attacks from cells; keyword arguments set further fields by the attack's name."""
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
