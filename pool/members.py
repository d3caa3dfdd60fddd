"""The teams of a pool, each with its origin and what its evaluations add up to."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from ..schema.errors import ConfigError, InputError, StorageError
from ..schema.loading import read_team
from .statistics import EVOLVE, Kind, Statistics, Sums

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from ..schema.team import Lineage, Team
    from .statistics import Trial

__all__ = ["Member"]

UNKNOWN = Statistics()
NONE = Sums()


@dataclass(kw_only=True, slots=True, eq=False)
class Member:
    """A team of a pool. What it is stays; what is known of it grows as the pool is refreshed.

    Attributes:
        name: What the pool calls it. Its file and the team in it have the same name.
        path: Its file.
        born: Its parents, the operator that made it, and why.
        stem: What its name begins with, as its first ancestor's does.
        identity: The hash that equal teams share.
        content_hash: The hash of what is executed.
        retired: Why it is no longer a member; None while it is.
        counts_wins: Whether the trial that it was taken in for counts among the others. Versions
            that did not mark such trials left out most that were not won, so means are too high.
    """

    name: str
    path: Path
    born: Lineage
    stem: str
    identity: str
    content_hash: str
    retired: str | None = None
    counts_wins: bool = False
    _team: Team | None = None
    _splits: dict[str, Statistics] = field(default_factory=dict[str, Statistics])
    _niches: dict[tuple[str, str], Statistics] = field(
        default_factory=dict[tuple[str, str], Statistics]
    )
    _tasks: dict[str, Statistics] = field(default_factory=dict[str, Statistics])
    _sums: dict[tuple[str, Kind], dict[tuple[str, str], Sums]] = field(
        default_factory=dict[tuple[str, Kind], dict[tuple[str, str], Sums]]
    )

    @property
    def team(self) -> Team:
        """The team, read when it is first asked for. Names of tools and models are not checked.

        Raises:
            StorageError: Its file is missing, does not load, or holds another team than was born.
        """
        if self._team is None:
            self._team = self._read()
        return self._team

    @property
    def is_readable(self) -> bool:
        """Whether its file has the team that was born."""
        try:
            return self.team.name != ""
        except StorageError:
            return False

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

    def as_it_is(self) -> Member:
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
        self.counts_wins |= not self._splits and trial.kind == "plain" and self._was_born_in(trial)
        self._splits[trial.split] = self.on(split=trial.split).after(trial)
        if trial.niche is not None:
            known = self.on(trial.niche, split=trial.split)
            self._niches[trial.split, trial.niche] = known.after(trial)
        task = (trial.niche or "", trial.task)
        sums = self._sums.setdefault((trial.split, trial.kind), {})
        sums[task] = sums.get(task, NONE).after(trial)
        if trial.score is not None and trial.kind == "plain":
            self._tasks[trial.task] = self._tasks.get(trial.task, UNKNOWN).after(trial)

    def _was_born_in(self, trial: Trial) -> bool:
        return bool(self.born.run) and (self.born.run, self.born.task) == (trial.run, trial.task)

    def _read(self) -> Team:
        try:
            team = read_team(self.path)
        except ConfigError as error:
            raise StorageError(str(error)) from None
        except InputError as error:
            raise StorageError(
                f"{error} The pool's ledger says that {self.name} is there."
            ) from None
        return self.expected(team)

    def expected(self, team: Team) -> Team:
        """Give a team that was read from the file back, if it is the one that was born.

        Raises:
            StorageError: It is another one.
        """
        if team.content_hash != self.content_hash:
            raise StorageError(
                f"{self.path}: another team than the one that was evaluated: it was edited. Restore"
                " it from version control, or copy it and take the copy in with mas-pool import."
            )
        return team
