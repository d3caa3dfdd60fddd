"""The ways to evolve that are compared: the default, and what differs from it in one switch."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from .trials import Trial

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["CROSSINGS", "HAND", "LEVEL", "PARENTS", "REFERENCE", "ROWS", "TOLD"]

REFERENCE = Trial(name="EvoMAS")
WITHOUT: Mapping[str, object] = {"crossover": (0.0, 0.0)}
BASELINES = (
    Trial(name="chance", changes={"operators": "chance"}),
    Trial(name="best of n", changes={"strategy": "best_of_n"}),
    Trial(name="fixed seeds", changes={"strategy": "fixed"}),
)
SWITCHES = (
    Trial(name="no crossover", changes=WITHOUT),
    Trial(name="no mutation", changes={"crossover": (1.0, 1.0)}),
    Trial(name="no instantiation", changes={"instantiate": False}),
    Trial(name="no memory", changes={"memory": 0}),
    Trial(name="judge", changes={"score": "judge"}),
)
SETTINGS = (
    Trial(name="edits of one agent", everywhere=False),
    Trial(name="skill 0", skill=0.0),
    Trial(name="from one agent", seeds=("solo",)),
)
RIGHT_OR_WRONG = tuple(
    replace(one, name=f"right or wrong: {one.name}", puzzles=1)
    for one in (REFERENCE, *BASELINES[:2])
)
ROWS = (REFERENCE, *BASELINES, *SWITCHES, *SETTINGS, *RIGHT_OR_WRONG)
"""On drawn landscapes. Each is compared with the reference, those of right or wrong with theirs."""
LEVEL = (REFERENCE, *BASELINES, *SWITCHES[:2])
"""On level landscapes, where every team is equally good."""
HAND = (REFERENCE, BASELINES[0], SWITCHES[0])
"""On the landscape that was made by hand."""
PARENTS: Mapping[str, tuple[str, ...]] = {
    "good at one role": ("good_workers", "good_judges"),
    "good in one respect": ("well_prompted", "well_staffed"),
    "unspecialised": REFERENCE.seeds,
}
CROSSINGS = tuple(
    Trial(
        name=f"{parents}, {breadth}, {name}",
        everywhere=breadth == "all agents",
        seeds=seeds,
        changes={"instantiate": False, **changes},
    )
    for parents, seeds in PARENTS.items()
    for breadth in ("one agent", "all agents")
    for name, changes in (("crossover", {}), ("no crossover", WITHOUT))
)
"""With parents of three kinds, which are not instantiated, so that crossover meets them."""
TOLD = ("EvoMAS", "chance", "no mutation", "edits of one agent")
"""Rows of which it is told what each operator's children were worth; also all with crossover."""
