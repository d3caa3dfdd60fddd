"""The teams of a pool, each with its origin and what its evaluations add up to."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ..schema.errors import ConfigError, InputError, StorageError
from ..schema.loading import read_team
from .records import Record

if TYPE_CHECKING:
    from ..schema.team import Team
    from .statistics import Trial

__all__ = ["Member"]


@dataclass(kw_only=True, slots=True, eq=False)
class Member(Record):
    """A team of a pool. What it is stays; what is known of it grows as the pool is refreshed.

    Attributes:
        identity: The hash that equal teams share.
        content_hash: The hash of what is executed.
        counts_wins: Whether the trial that it was taken in for counts among the others. Versions
            that did not mark such trials left out most that were not won, so means are too high.
    """

    identity: str
    content_hash: str
    counts_wins: bool = False
    _read: list[Team] = field(default_factory=list["Team"])

    @property
    def team(self) -> Team:
        """The team, read when it is first asked for. Names of tools and models are not checked.

        Raises:
            StorageError: Its file is missing, does not load, or holds another team than was born.
        """
        if not self._read:  # a file is written once, so whoever is of this team shares it
            self._read.append(self._from_file())
        return self._read[0]

    @property
    def is_readable(self) -> bool:
        """Whether its file has the team that was born."""
        try:
            return self.team.name != ""
        except StorageError:
            return False

    def take(self, trial: Trial) -> None:
        """Take in a trial."""
        self.counts_wins |= not self._splits and trial.kind == "plain" and self._was_born_in(trial)
        Record.take(self, trial)

    def _was_born_in(self, trial: Trial) -> bool:
        return bool(self.born.run) and (self.born.run, self.born.task) == (trial.run, trial.task)

    def _from_file(self) -> Team:
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
