"""The ways to adapt that are compared: the default, and what differs from it in one switch."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .trials import Trial

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["PACES", "REFERENCE", "ROWS"]

REFERENCE = Trial(name="joint")
PACES = tuple(Trial(name=f"K = {every}", changes={"every": every}) for every in (1, 3, 5))
"""How often the team changes."""
ALONE: Mapping[str, object] = {"capability": False, "topology": False}
ABLATIONS = (
    Trial(name="capability only", changes={"topology": False}),
    Trial(name="topology only", changes={"capability": False}),
    Trial(name="neither", changes=ALONE),
    Trial(name="no replicator", changes={"replicator": False}),
)
CONTROLS = (
    Trial(name="skill 0", skill=0.0),
    Trial(name="joint, last", changes={"answer": "last"}),
    Trial(name="neither, last", changes={**ALONE, "answer": "last"}),
    Trial(name="one round", changes={"most": 1}),
)
ROWS = (REFERENCE, *PACES, *ABLATIONS, *CONTROLS)
