"""The ways to evolve that are compared: the default, and what differs from it in one switch."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from .trials import COMPONENTS, Trial

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["CROSSINGS", "HAND", "LEVEL", "PARENTS", "REFERENCE", "ROWS", "TOLD"]

REFERENCE = Trial(name="EvoMAS")
WITHOUT: Mapping[str, object] = {"moves": ("mutate",)}
BLIND: Mapping[str, object] = {"operators": "chance", "choice": "chance", "select": "chance"}
BASELINES = (
    Trial(name="operators: chance", changes={"operators": "chance"}),
    Trial(name="all by chance", changes=BLIND),
    Trial(name="best of n", changes={"strategy": "best_of_n"}),
    Trial(name="fixed seeds", changes={"strategy": "fixed"}),
)
MOVES = (
    Trial(name="no crossover", changes=WITHOUT),
    Trial(name="no mutation", changes={"moves": ("crossover",)}),
)
EARLY = Trial(name="early_stop: true", changes={"early_stop": True})
SCORES = (
    Trial(name="admission: best", changes={"admission": "best"}),
    Trial(name="repeats: 3", changes={"repeats": 3}),
    Trial(name="judge", changes={"score": "judge"}),
)
SWITCHES = (
    Trial(name="no instantiation", changes={"instantiate": False}),
    Trial(name="no memory", changes={"memory": 0}),
    Trial(name="no trace", changes={"trace": False}),
    *(
        Trial(name=f"{field}: {value}", changes={field: value})
        for field, values in {
            "choice": ("schedule", "outcome", "chance"),
            "select": ("statistics", "chance"),
            "parent": ("best", "chance"),
            "admission": ("none",),
        }.items()
        for value in values
    ),
    EARLY,
    Trial(name="steps of the roster", changes={"components": (*COMPONENTS, "roster")}),
    Trial(name="preset: paper", changes={"admission": "best", "score": "judge"}),
)
SETTINGS = (
    Trial(name="one agent for seeds", seeds=("solo",)),
    Trial(name="edits of one agent", everywhere=False),
    Trial(name="skill 0", skill=0.0),
)
RIGHT_OR_WRONG = tuple(
    replace(one, name=f"right or wrong: {one.name}", puzzles=1)
    for one in (REFERENCE, BASELINES[0], BASELINES[2], *SCORES[:2], EARLY)
)
ROWS = (REFERENCE, *BASELINES, *MOVES, *SWITCHES, *SCORES, *SETTINGS, *RIGHT_OR_WRONG)
"""On drawn landscapes. Each is compared with the reference, those of right or wrong with theirs."""
LEVEL = (REFERENCE, *BASELINES, *MOVES, *SCORES)
"""On level landscapes, where every team is equally good."""
HAND = (REFERENCE, BASELINES[0], MOVES[0], EARLY)
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
TOLD = (
    "EvoMAS",
    EARLY.name,
    "steps of the roster",
    "operators: chance",
    "no crossover",
    "no mutation",
    "edits of one agent",
)
"""Rows of which it is told what each operator's children were worth; also all with crossover."""
