"""The totals of the trials of a team, or of an agent in teams."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Self

from ...schema.team.team import Lineage
from ..values.statistics import EVOLVE, Kind, Statistics, TrialTotals
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
        totals: Its totals by the split and the niche of the tasks.
        trials: Finds its trials on a task again; None without a ledger.
        upto: The number of ledger bytes that it reflects; None: all.
    """

    name: str
    path: Path
    lineage: Lineage
    stem: str
    retired: str | None = None
    totals: dict[tuple[str, str | None], TrialTotals] = field(
        default_factory=dict[tuple[str, str | None], TrialTotals]
    )
    trials: TrialIndex | None = None
    upto: int | None = None
    _by_split: dict[str, Statistics] = field(default_factory=dict[str, Statistics], init=False)

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
        niches = sorted(niche for of, niche in self.totals if of == split and niche is not None)
        return {niche: self.on(niche, split=split) for niche in niches}

    def on(self, niche: str | None = None, *, split: str = EVOLVE) -> Statistics:
        """Return its statistics on the tasks of a split, of one niche or of all."""
        if niche is not None:
            totals = self.totals.get((split, niche))
            return UNKNOWN if totals is None else totals.statistics
        if split not in self._by_split:
            inside = [totals for (of, _), totals in self.totals.items() if of == split]
            self._by_split[split] = TrialTotals.merged(inside).statistics
        return self._by_split[split]

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
        totals = {key: totals.copy() for key, totals in self.totals.items()}
        return replace(self, totals=totals, upto=upto)

    def take(self, trial: Mapping[str, Any], kind: Kind) -> None:
        """Add a trial of a kind, in its plain form."""
        key = trial.get("split", EVOLVE), trial.get("niche")
        totals = self.totals.get(key)
        if totals is None:
            totals = self.totals[key] = TrialTotals()
        totals.take(trial, kind)
        if self._by_split:
            self._by_split.clear()
