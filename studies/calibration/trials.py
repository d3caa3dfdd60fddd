"""One repetition: an evolution in a world, and what the pool then says against what is true."""

from __future__ import annotations

from . import evolving, quick
from .measures import Outcome, measured
from .world import WORLDS

LOOPS = {"quick": quick.evolve, "whole": evolving.evolve}


def outcome(key: tuple[str, str, int, int]) -> Outcome:
    """Evolve teams and measure; the key has the loop, the world, how many tasks, and the seed."""
    loop, name, tasks, seed = key
    world = next(item for item in WORLDS if item.name == name)
    return measured(*LOOPS[loop](world, tasks, seed))
