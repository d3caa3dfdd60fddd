"""The report of a race, as people read it."""

from __future__ import annotations

from dataclasses import replace

from coterie.operators.methods.race.result import Entrant

from .pages.races import RACE


def test_each_step_says_why_it_was_made() -> None:
    def entrant(number: int, parent: int, kind: str, reason: str) -> Entrant:
        return Entrant(number=number, parent=parent, kind=kind, reason=reason)

    entrants = (
        RACE.entrants[0],
        entrant(1, 0, "hypothesis", "Try 1."),
        entrant(2, 1, "merge", "Try 2."),
        entrant(3, 2, "merge", "Try 3."),
    )
    lines = str(replace(RACE, entrants=entrants, leader=3)).splitlines()
    assert lines[1:4] == ["  hypothesis: Try 1.", "  merge: Try 2.", "  merge: Try 3."]
