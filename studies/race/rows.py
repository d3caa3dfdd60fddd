"""Who is compared, and one trial of theirs, in a process of its own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from coterie.operators.methods.race.settings import HYPOTHESIS, MERGE

from . import gepa
from .trials import SEARCHES, raced, searched
from .worlds import MAKERS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .trials import Outcome
    from .worlds import World

Row = Callable[["World"], "Outcome"]
"""Runs one trial in a world."""
ROWS: Mapping[str, Row] = {
    "race": raced,
    "race, hypotheses": partial(raced, kinds=(HYPOTHESIS, MERGE)),
    "race, hypotheses, no merging": partial(raced, kinds=(HYPOTHESIS,)),
    "GEPA": gepa.on_prompts,
    "GEPA, the file": gepa.on_yaml,
    **{name: partial(searched, name=name) for name in SEARCHES},
}
"""Who is compared, by name."""


def trial(name: str, world: str, seed: int, budget: int | None) -> tuple[str, Outcome]:
    """Run one trial, and return it with the case of the world.

    Args:
        name: The row.
        world: The world.
        seed: Draws it.
        budget: How many calls it has; None: as many as the world's rules say.
    """
    result = MAKERS[world](seed)
    result = replace(result, budget=budget or result.budget)
    return result.case, ROWS[name](result)
