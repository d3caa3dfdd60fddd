"""The teams of a pool, each with its origin and the totals of its evaluations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Self

from ...schema.loading.loading import read_team
from ...schema.team.team import Team
from ...schema.values.errors import ConfigError, InputError, StorageError
from ..values.statistics import EVOLVE, Kind, Past, Sums
from .records import TrialRecord

Task = tuple[str, str]
"""A task by its niche, or "", and its id."""
Apart = tuple[str, Kind]
"""The key of separate totals: the split of the tasks, and the kind of the trial."""
NONE = Sums()
NOTHING = Past()


@dataclass(kw_only=True, slots=True, eq=False)
class Member(TrialRecord):
    """A team of a pool. It never changes; its statistics grow as the pool is refreshed.

    Attributes:
        identity: The hash that equal teams share.
        by_task: The totals on each of the last tasks: see `Recent`.
        by_past: The totals on earlier tasks, by niche.
    """

    identity: str
    content_hash: str
    by_task: dict[Apart, dict[Task, Sums]] = field(default_factory=dict[Apart, dict[Task, Sums]])
    by_past: dict[Apart, dict[str, Past]] = field(default_factory=dict[Apart, dict[str, Past]])
    _read: list[Team] = field(default_factory=list["Team"])

    @property
    def team(self) -> Team:
        """The team, read on first use. Names of tools and models are not checked.

        Raises:
            StorageError: Its file is missing, does not load, or holds another team than was born.
        """
        if not self._read:  # a file is written once, so copies of this member share it
            self._read.append(self._from_file())
        return self._read[0]

    @property
    def is_readable(self) -> bool:
        """Whether its file has the team that was born."""
        try:
            return self.team.name != ""
        except StorageError:
            return False

    def add_score(self, apart: Apart, task: Task, score: float) -> None:
        """Add the score of a trial to the totals on its task."""
        sums = self.by_task.get(apart)
        if sums is None:
            sums = self.by_task[apart] = {}
        sums[task] = sums.get(task, NONE).after(score)

    def sums(self, split: str = EVOLVE, kind: Kind = "plain") -> Mapping[Task, Sums]:
        """Return the totals of its trials of a kind on each of the last tasks of a split."""
        return self.by_task.get((split, kind), {})

    def past(self, split: str = EVOLVE, kind: Kind = "plain") -> Mapping[str, Past]:
        """Return the totals of its trials of a kind on earlier tasks of a split, by niche."""
        return self.by_past.get((split, kind), {})

    def pass_by(self, split: str, task: Task) -> None:
        """Merge a task's totals into those of its niche's earlier tasks."""
        niche, _ = task
        for apart, sums in self.by_task.items():
            if task in sums and apart[0] == split:
                past = self.by_past.get(apart)
                if past is None:
                    past = self.by_past[apart] = {}
                past[niche] = past.get(niche, NOTHING).after(sums.pop(task))

    def as_it_is(self, upto: int) -> Self:
        """Return a copy that later trials do not change; see `TrialRecord`."""
        record = TrialRecord.as_it_is(self, upto)
        return replace(
            self,
            totals=record.totals,
            upto=upto,
            by_task={apart: {**sums} for apart, sums in self.by_task.items()},
            by_past={apart: {**past} for apart, past in self.by_past.items()},
        )

    def _from_file(self) -> Team:
        try:
            team = read_team(self.path)
        except ConfigError as error:
            raise StorageError(str(error)) from None
        except InputError as error:
            raise StorageError(
                f"{error} According to the pool's ledger, {self.name} exists."
            ) from None
        return self.expected(team)

    def expected(self, team: Team) -> Team:
        """Return a team read from the file, after checking that it is the one that was born.

        Raises:
            StorageError: It is another one.
        """
        if team.content_hash != self.content_hash:
            raise StorageError(
                f"{self.path}: this is not the team that was evaluated: it was edited. Restore it"
                " from version control, or copy it and add the copy with mas-pool import."
            )
        return team
