"""What is compared: the strategy, and what it is without each of its parts."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["ALL", "FULL", "ROWS", "Row", "row_of"]

ALL: Mapping[str, Any] = {"reference": True, "phase_steps": 6}
"""What all of them set: everybody sees which parts were wrong, and a phase has few calls."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Row:
    """A way to evolve.

    Attributes:
        name: What the tables call it.
        settings: What differs from the strategy's defaults.
        paper: What Meta-Team has as its difference from the full one, in points, and where.
    """

    name: str
    settings: Mapping[str, Any] = field(default_factory=dict[str, Any])
    paper: str = ""


FULL = Row(name="full")
ROWS = (
    FULL,
    Row(name="no evolution", settings={"scheme": "none"}, paper="-13.1 (Table 2)"),
    Row(name="centralised", settings={"scheme": "centralised"}, paper="-4.1 (Table 2)"),
    Row(name="partitioned", settings={"scheme": "partitioned"}, paper="-9.4 (Table 2)"),
    Row(name="no L1", settings={"agent_level": False}, paper="-5.4 (Table 3)"),
    Row(name="no L2", settings={"pair_level": False}, paper="-3.2 (Table 3)"),
    Row(name="no L3", settings={"team_level": False}, paper="-2.0 (Table 3)"),
    Row(name="budget 1/3", settings={"budget_share": 1 / 3}),
    Row(name="fixed roster", settings={"roster": "closed"}),
)


def row_of(name: str) -> Row:
    """Find a row by its name."""
    return next(one for one in ROWS if one.name == name)
