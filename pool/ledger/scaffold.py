"""The scaffold of a pool: its head, the team that a strategy evolves, as a folder of text.

A strategy that evolves one team declares it. From then on, whenever the head retires, its successor
becomes the head, and the folder follows: only changed files are written. After a crash it may be
outdated, and the next process that opens the pool updates it.

A person's edits there are never lost: they are reported, copied aside before they are overwritten,
and added as a team of the pool on request.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path

from ...schema.loading.agent_document import AGENTS, TEAM
from ...schema.loading.agent_file import OURS
from ...schema.loading.loading import read_team
from ...schema.loading.team_folder import strangers, team_texts
from ...schema.team.team import Team
from ...schema.values.errors import ConfigError, InputError, StorageError
from ...schema.values.files import make_folder
from ...schema.values.folders import files_in, write_folder
from ..values.layout import SCAFFOLD
from .members import Member

HEAD = "pool.head"
"""The event that declares the team of a pool's scaffold: `{"team": name}`."""

PARTS = (TEAM, *(f"{AGENTS}/*/{part}" for part in OURS))


def next_head(live: Mapping[str, Member]) -> str | None:
    """Return the current team: the youngest that is not retired and has no living child.

    Args:
        live: The teams that are not retired, by name, in the order of their births.
    """
    succeeded = {parent for member in live.values() for parent in member.lineage.parents}
    return next((name for name in reversed([*live]) if name not in succeeded), None)


@dataclass(frozen=True, kw_only=True, slots=True)
class FolderDifference:
    """The differences between the folder and its head, by file path.

    Attributes:
        behind: Files that a crash left outdated.
        edited: Files that somebody changed, added or removed.
        strange: Files that are no part of a team.
    """

    behind: tuple[str, ...] = ()
    edited: tuple[str, ...] = ()
    strange: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Scaffold:
    """The scaffold's folder. A writer needs exclusive access to the pool.

    Attributes:
        tell: Receives a message about where edits were copied to.
    """

    pool: Path
    tell: Callable[[str], None]

    @property
    def folder(self) -> Path:
        """The path of the folder."""
        return self.pool / SCAFFOLD

    def follow(self, heads: Sequence[Member]) -> list[str]:
        """Write the head to the folder; a person's edits are copied aside first.

        Args:
            heads: All heads in order; the last one is current.

        Returns:
            The files that were written or removed, by their paths in it.
        """
        if not heads:
            return []
        texts = _texts(heads[-1])
        if (edited := self.difference(heads).edited) and not self._is(heads[-1].team):
            self.tell(f"{self.folder} was edited ({', '.join(edited)}). {self._copy_aside()}")
        make_folder(self.folder)
        return write_folder(self.folder, texts, files_in(self.folder, PARTS))

    def difference(self, heads: Sequence[Member]) -> FolderDifference:
        """Compare the folder with the head."""
        if not heads:
            return FolderDifference()
        now = _texts(heads[-1])
        before = _texts(heads[-2]) if len(heads) > 1 else {}
        there = self._there()
        names = sorted({*now, *before, *there})
        others = [name for name in names if there.get(name) != now.get(name)]
        behind = [name for name in others if there.get(name) == before.get(name)]
        return FolderDifference(
            behind=tuple(behind),
            edited=tuple(name for name in others if name not in behind) if there else (),
            strange=strangers(self.folder, {**now, **there}),
        )

    def edits(self, heads: Sequence[Member]) -> Team | None:
        """Read a person's edited version of the head; None without edits.

        Raises:
            InputError: There is no scaffold, or the edited team does not load.
            StorageError: The head's file is damaged.
        """
        if not heads:
            raise InputError(f"{self.pool}: no strategy has chosen the team of its scaffold.")
        team = read_team(self.folder)
        return None if _is_same(team, heads[-1].team) else team

    def _there(self) -> Mapping[str, str]:
        """Return the texts of the team's files in the folder, by path."""
        return {name: _content(self.folder / name) for name in files_in(self.folder, PARTS)}

    def _is(self, team: Team) -> bool:
        """Return whether the folder holds a team, in any style."""
        try:
            return _is_same(read_team(self.folder), team)
        except (ConfigError, InputError):
            return False

    def _copy_aside(self) -> str:
        """Copy the folder's files to a folder beside it; return a message with its path."""
        names = (f"{SCAFFOLD}_edited_{number}" for number in count(1))
        aside = next(self.pool / name for name in names if not (self.pool / name).exists())
        make_folder(aside)
        write_folder(aside, self._there())
        return f"What was there is kept in {aside}."


def _texts(head: Member) -> Mapping[str, str]:
    """Return the folder's texts for a team, without the edits and steps in its lineage."""
    lineage = replace(head.lineage, edits=(), steps=())
    return team_texts(replace(head.team, name=head.name, lineage=lineage))


def _is_same(left: Team, other: Team) -> bool:
    """Return whether teams are equal, including which tasks taught their notes."""
    bare = (replace(team, name="", lineage=None) for team in (left, other))
    first, second = (team_texts(team) for team in bare)
    return first == second


def _content(path: Path) -> str:
    try:
        return path.read_bytes().decode("utf-8", "backslashreplace")
    except OSError as error:
        raise StorageError(f"{path}: cannot be read: {error.strerror}.") from error
