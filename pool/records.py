"""What the trials of a team, or of an agent in teams, add up to."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Self

from .statistics import EVOLVE, Kind, Statistics, Sums

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from ..schema.team import Lineage
    from .statistics import Trial

__all__ = ["Record"]

UNKNOWN = Statistics()
NONE = Sums()


@dataclass(kw_only=True, slots=True, eq=False)
class Record:
    """A member of a pool, with what is known of it from trials, which only ever grows.

    Attributes:
        name: What the pool calls it. Nobody else there is called so.
        path: Its file.
        born: Its parents, the operator that made it, and why.
        stem: What its name begins with, as its first ancestor's does.
        retired: Why it is no longer a member; None while it is.
    """

    name: str
    path: Path
    born: Lineage
    stem: str
    retired: str | None = None
    _splits: dict[str, Statistics] = field(default_factory=dict[str, Statistics])
    _niches: dict[tuple[str, str], Statistics] = field(
        default_factory=dict[tuple[str, str], Statistics]
    )
    _tasks: dict[str, Statistics] = field(default_factory=dict[str, Statistics])
    _sums: dict[tuple[str, Kind], dict[tuple[str, str], Sums]] = field(
        default_factory=dict[tuple[str, Kind], dict[tuple[str, str], Sums]]
    )

    @property
    def statistics(self) -> Statistics:
        """What is known of it on the tasks that evolution learns from."""
        return self.on()

    @property
    def niches(self) -> Mapping[str, Statistics]:
        """The same by niche, in alphabetical order."""
        return self.niches_of(EVOLVE)

    def niches_of(self, split: str) -> Mapping[str, Statistics]:
        """Give what is known of it by niche, on the tasks of a split."""
        return {niche: known for (of, niche), known in sorted(self._niches.items()) if of == split}

    def on(self, niche: str | None = None, *, split: str = EVOLVE) -> Statistics:
        """Give what is known of it on the tasks of a split, of one niche or of all."""
        if niche is None:
            return self._splits.get(split, UNKNOWN)
        return self._niches.get((split, niche), UNKNOWN)

    def on_task(self, task: str) -> Statistics | None:
        """Give what is known of it on a task, by the task's id; None if it was never scored.

        What it was taken into the pool for is no score there, nor what it was adapted to.
        """
        return self._tasks.get(task)

    def sums(self, split: str = EVOLVE, kind: Kind = "plain") -> Mapping[tuple[str, str], Sums]:
        """Give what its trials of a kind add up to on each task of a split, by niche and task."""
        return self._sums.get((split, kind), {})

    def as_it_is(self) -> Self:
        """Give a copy that stays as it is when this one takes in more."""
        return replace(
            self,
            _splits={**self._splits},
            _niches={**self._niches},
            _tasks={**self._tasks},
            _sums={kind: {**sums} for kind, sums in self._sums.items()},
        )

    def take(self, trial: Trial) -> None:
        """Take in a trial."""
        self._splits[trial.split] = self.on(split=trial.split).after(trial)
        if trial.niche is not None:
            known = self.on(trial.niche, split=trial.split)
            self._niches[trial.split, trial.niche] = known.after(trial)
        task = (trial.niche or "", trial.task)
        sums = self._sums.setdefault((trial.split, trial.kind), {})
        sums[task] = sums.get(task, NONE).after(trial)
        if trial.score is not None and trial.kind == "plain":
            self._tasks[trial.task] = self._tasks.get(trial.task, UNKNOWN).after(trial)
