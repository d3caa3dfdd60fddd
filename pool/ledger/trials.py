"""Finds the trials of members on a task in the ledger, on demand."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from ...schema.values.codec import from_value
from ..values.places import Places
from ..values.statistics import Statistics, TrialTotals
from .changes import Evaluated
from .ledger import lines_at

SCORED = "evaluated"


@dataclass(kw_only=True, slots=True)
class TrialIndex:
    """An index of the scored trials in the ledger, by member and task."""

    ledger: Path
    places: Places = field(default_factory=Places)

    def take(self, members: Iterable[str], task: str, offset: int) -> None:
        """Record the place of a scored trial of unchanged members."""
        for member in members:
            self.places.add(_about(member, task), offset)

    def on(self, member: str, task: str, *, upto: int | None = None) -> Statistics | None:
        """Return the statistics of a member on a task; None without trials.

        Args:
            upto: Use only lines before this byte.
        """
        numbers = self.places.find(_about(member, task))
        offsets = [number for number in numbers if upto is None or number < upto]
        tally: TrialTotals | None = None
        for entry in lines_at(self.ledger, offsets):
            if entry.value["kind"] == SCORED:
                evaluation = from_value(Evaluated, entry.value)
                if evaluation.trial.task == task and member in _of(evaluation):
                    tally = tally or TrialTotals()
                    tally.take(entry.value)
        return tally and tally.statistics


def _of(evaluated: Evaluated) -> set[str]:
    return {evaluated.member, *(part.member for part in evaluated.trial.agents.values())}


def _about(member: str, task: str) -> str:
    return f"{member} on {task}"
