"""What is compared: schemes of credit, each with a fair and a vain judge."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["FAIR", "LEVEL_ROWS", "NOTHING", "ROWS", "SCHEMES", "VAIN", "Trial"]

FAIR, VAIN = "fair", "vain"


@dataclass(frozen=True, kw_only=True, slots=True)
class Trial:
    """A way to build experience.

    Attributes:
        name: What the table calls it.
        judge: `fair` or `vain`.
        learns: Whether there is any experience.
        settings: What differs from the strategy's defaults.
    """

    name: str
    judge: str = FAIR
    learns: bool = True
    settings: Mapping[str, Any] = field(default_factory=dict[str, Any])


NAMES: Mapping[str, str] = {"naive": "naive", "difference": "difference", "shapley": "Shapley"}
SCHEMES = tuple(
    Trial(name=f"{name}, {judge}", judge=judge, settings={"credit": credit})
    for judge in (FAIR, VAIN)
    for credit, name in NAMES.items()
)
NOTHING = Trial(name="no experience", learns=False)
PER_TURN = Trial(name="difference per turn, fair", settings={"credit": "difference", "per": "turn"})
CONTROLS = (Trial(name="everything kept", settings={"share": 1.0}), NOTHING)
ROWS = (*SCHEMES, PER_TURN, *CONTROLS)
LEVEL_ROWS = (*(one for one in SCHEMES if one.judge == FAIR), NOTHING)
"""Those of level landscapes: nobody is louder than others there, so both judges are one."""
