"""What is compared: the strategy, what it is without each of its parts, and baselines."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["FULL", "ROWS", "SINGLE", "Row", "row_of"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Row:
    """A way to work on a stream.

    Attributes:
        name: What the tables call it.
        settings: What differs from the strategy's defaults.
        paper: What the paper has as its difference from the full one, and where.
    """

    name: str
    settings: Mapping[str, Any] = field(default_factory=dict[str, Any])
    paper: str = ""


ALONE: Mapping[str, Any] = {
    "pool_size": 1,
    "team_size": 1,
    "structure": "voting",
    "codream": False,
    "lifecycle": False,
}
"""One agent, whose answer is the team's."""
FULL = Row(name="full")
SINGLE = Row(name="single agent", settings={**ALONE, "learning": False}, paper="-0.341 (Table 2)")
ABLATIONS = (
    Row(name="random team", settings={"selector": "random"}, paper="-0.024 (Table 5)"),
    Row(name="forced voting", settings={"structure": "voting"}, paper="-0.030 (Table 5)"),
    Row(name="no CoDream", settings={"codream": False}, paper="-0.108 (Table 5)"),
    Row(name="symmetric transfer", settings={"transfer": "symmetric"}),
    Row(name="no lifecycle", settings={"lifecycle": False}, paper="-0.005 (Table 12)"),
    Row(name="N = 3", settings={"pool_size": 3}, paper="-0.011 (Table 7)"),
)
VOTES = 5
BASELINES = (
    SINGLE,
    Row(
        name="self-consistency",
        settings={**SINGLE.settings, "pool_size": VOTES, "team_size": VOTES},
        paper="-0.249 (Table 2)",
    ),
    Row(name="memory only", settings=ALONE),
)
ROWS = (FULL, *ABLATIONS, *BASELINES)


def row_of(name: str) -> Row:
    """Find a row by its name."""
    return next(one for one in ROWS if one.name == name)
