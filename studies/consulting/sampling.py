"""Shapley values from a few orders, of the runs that were made for the exact ones.

The strategy computes five players' values exactly. What a few orders would have said, and what
they would have cost, follows from the same runs: a group's run is the same for whoever asks.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import TYPE_CHECKING

from coterie.operators.credit import averaged, orders, prefixes, ratios, subsets
from coterie.operators.credit.counterfactual import Worth, name_of
from coterie.operators.credit.table import Cost
from coterie.runtime.record.journal import recorded
from coterie.schema.values.codec import from_value

from .landscapes import AGENTS

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

__all__ = ["ORDERS", "Sampled", "sampled"]

ORDERS = 4
KIND = "worth"
"""Of the journal's entries that say what a group came to."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Sampled:
    """What a few orders say of a case.

    Attributes:
        worth: Of each specialist.
        top: The largest ratio.
        cost: Of the groups with which these orders begin.
        whole: Of all groups.
    """

    worth: Mapping[str, float]
    top: float
    cost: Cost
    whole: Cost


def sampled(folder: Path, case: int, seed: int) -> Sampled:
    """Draw orders, and read what their groups came to.

    Args:
        folder: That of a journal that has all groups.
        case: Which case of the evolution.
        seed: Which orders are drawn.
    """
    groups = _groups(folder, case)
    source = random.Random(f"consulting/{seed}/orders {case}")  # noqa: S311 - it draws a sample
    drawn = orders(AGENTS, permutations=ORDERS, rng=source)
    values = {group: one.value for group, one in groups.items()}
    worth = {agent: one.value for agent, one in averaged(values, drawn).items()}
    return Sampled(
        worth=worth,
        top=max(ratios(worth).values()),
        cost=Cost.of(groups[one] for one in prefixes(drawn)),
        whole=Cost.of(groups.values()),
    )


def _groups(folder: Path, case: int) -> dict[frozenset[str], Worth]:
    """Read what each group came to."""
    found = {
        path.rpartition(f"/{KIND} ")[2]: value
        for path, value in recorded(folder, KIND)
        if path.startswith(f"task {case:06d}/")
    }
    groups: dict[frozenset[str], Worth] = {}
    for group in subsets(AGENTS):
        value = found[name_of(one for one in AGENTS if one not in group)]
        groups[group] = from_value(Worth, value)
    return groups
