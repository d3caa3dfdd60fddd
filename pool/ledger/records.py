"""The totals of the trials of a team, or of an agent in teams."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Self

from ...schema.team.team import Lineage
from ..values.statistics import EVOLVE, Statistics, Trial, TrialTotals
from .trials import TrialIndex

UNKNOWN = Statistics()


@dataclass(kw_only=True, slots=True, eq=False)
class TrialRecord:
    """A member of a pool, with statistics of its trials, which only grow.

    Attributes:
        name: Its unique name in the pool.
        lineage: Its parents, the operator that made it, and why.
        stem: The beginning of its name, as in its first ancestor's.
        retired: Why it is retired; None if it is not.
        by_split: Its totals on the tasks of each split.
        by_niche: The same by split and niche.
        trials: Finds its trials on a task again; None without a ledger.
        upto: The number of ledger bytes that it reflects; None: all.
    """

    name: str
    path: Path
    lineage: Lineage
    stem: str
    retired: str | None = None
    by_split: dict[str, TrialTotals] = field(default_factory=dict[str, TrialTotals])
    by_niche: dict[tuple[str, str], TrialTotals] = field(
        default_factory=dict[tuple[str, str], TrialTotals]
    )
    trials: TrialIndex | None = None
    upto: int | None = None

    @property
    def statistics(self) -> Statistics:
        """Its statistics on the tasks that evolution learns from."""
        return self.on()

    @property
    def niches(self) -> Mapping[str, Statistics]:
        """The same by niche, in alphabetical order."""
        return self.niches_of(EVOLVE)

    def niches_of(self, split: str) -> Mapping[str, Statistics]:
        """Return its statistics by niche, on the tasks of a split."""
        niches = sorted(niche for of, niche in self.by_niche if of == split)
        return {niche: self.by_niche[split, niche].statistics for niche in niches}

    def on(self, niche: str | None = None, *, split: str = EVOLVE) -> Statistics:
        """Return its statistics on the tasks of a split, of one niche or of all."""
        tally = self.by_split.get(split) if niche is None else self.by_niche.get((split, niche))
        return UNKNOWN if tally is None else tally.statistics

    def on_task(self, task: str) -> Statistics | None:
        """Return its statistics on a task, by the task's id; None if it was never scored.

        Chosen and adapted trials do not count.
        """
        return self.trials.on(self.name, task, upto=self.upto) if self.trials else None

    def as_it_is(self, upto: int) -> Self:
        """Return a copy that later trials do not change.

        Args:
            upto: The number of ledger bytes that it reflects.
        """
        by_split = {split: tally.copy() for split, tally in self.by_split.items()}
        by_niche = {key: tally.copy() for key, tally in self.by_niche.items()}
        return replace(self, by_split=by_split, by_niche=by_niche, upto=upto)

    def take(self, trial: Trial) -> None:
        """Add a trial."""
        split, niche = trial.split, trial.niche
        if split not in self.by_split:
            self.by_split[split] = TrialTotals()
        self.by_split[split].take(trial)
        if niche is not None:
            if (split, niche) not in self.by_niche:
                self.by_niche[split, niche] = TrialTotals()
            self.by_niche[split, niche].take(trial)
