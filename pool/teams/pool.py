"""A pool: teams and agents kept between tasks, in a folder to read, to compare and to version.

* `teams/<name>.yaml`: each team, with its lineage. A file is written once and stays, also when its
  team is retired, so that lineage is always whole.
* `agents/<name>/`: each agent as it is, and what it has learnt. What it was is in the ledger.
* `scaffold/`: the team that a strategy evolves, where it evolves one, in files that follow it.
* `ledger.jsonl`: what happened, a line each: births, revisions, evaluations, what was learnt. All
  that is known of a team or an agent follows from it.

An update is done when its line is on disk, and it has a name, its `op`. Who is not sure whether an
update was done, having been killed meanwhile, makes it again under the same name: it counts once.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import Self, overload

from ...runtime.values.terminal import counted
from ...schema.host.catalogue import Catalogue
from ...schema.loading.ceiling import CapabilityPolicy
from ...schema.team.team import Lineage, Team
from ...schema.values.errors import InputError, StorageError
from ...schema.values.files import remove, write_atomically
from ..folder.agent_folders import AgentFolders
from ..folder.own_files import refuse_links
from ..folder.replacing import is_cut_short, put_back
from ..ledger.agents import PoolAgent
from ..ledger.changes import (
    Added,
    Change,
    ChildRejected,
    Evaluated,
    EventNoted,
    Forgotten,
    Learnt,
    Restored,
    Retired,
    Revised,
)
from ..ledger.current import Current
from ..ledger.ledger import LedgerEntry
from ..ledger.lessons import Lessons
from ..ledger.members import Member
from ..ledger.scaffold import Scaffold
from ..ledger.state import SEED, Admission, begin
from ..values.identity import identity_of
from ..values.layout import LEDGER, PENDING, TEAMS, make_folders
from .commits import Commits
from .sources import load_source


class Pool:
    """An open pool. Threads may share it, and processes may share the folder.

    `Pool.init` makes one and `Pool.open` opens one. It holds no file or lock between calls.

    Args:
        catalogue: What names its teams may use. By default, what is installed.
        ceiling: What teams may ask for at most. None: whatever the catalogue has.
        report: Told when what a crash left unfinished is removed. By default it is logged.
    """

    def __init__(
        self,
        folder: str | Path,
        *,
        catalogue: Catalogue | None = None,
        ceiling: CapabilityPolicy | None = None,
        report: Callable[[str], None] | None = None,
    ) -> None:
        self.folder = Path(folder)
        self.ceiling = ceiling
        self._given_catalogue = catalogue
        self._folders = AgentFolders(self.folder)
        self._current = Current(self.folder, report=report)
        self._scaffold = Scaffold(
            pool=self.folder, tell=report or logging.getLogger(__name__).warning
        )
        self._commits = Commits(
            current=self._current,
            folders=self._folders,
            scaffold=self._scaffold,
            host=lambda: self.catalogue,
            ceiling=ceiling,
        )
        self._flush: Callable[[], None] | None = None

    @classmethod
    def open(
        cls,
        folder: str | Path,
        *,
        catalogue: Catalogue | None = None,
        ceiling: CapabilityPolicy | None = None,
        report: Callable[[str], None] | None = None,
    ) -> Self:
        """Open a pool. Its teams are read when they are first asked for.

        Raises:
            InputError: There is no pool, or a link in it.
            StorageError: It is damaged.
        """
        refuse_links(Path(folder))
        pool = cls(folder, catalogue=catalogue, ceiling=ceiling, report=report)
        if not (pool.folder / LEDGER).is_file():
            raise InputError(
                f"no pool in {str(folder)!r}: it has no {LEDGER}. Make one with: mas-pool init"
                f" {folder}"
            )
        pool.refresh()
        pool._expect_files()
        return pool

    @classmethod
    def init(
        cls,
        folder: str | Path,
        seeds: Sequence[str | Path] = (),
        *,
        catalogue: Catalogue | None = None,
        ceiling: CapabilityPolicy | None = None,
        report: Callable[[str], None] | None = None,
        shared: bool = False,
    ) -> Self:
        """Make a folder a pool, if it is none yet, and add teams that people wrote.

        When a process stops before it has added all of them, `has_begun` is false until another
        call has.

        Args:
            folder: Where. What else is in it stays.
            seeds: Paths of team files, or `seed:NAME` for teams that come with coterie.
            shared: Whether branches of it are merged, as git does: whatever is added from then on
                is called so that names do not collide.
            catalogue: As for the class, and so on.

        Raises:
            InputError: The folder cannot be made, has teams without a ledger or a link in it, or a
                seed does not load; then none of them is added.
            StorageError: The folder cannot be written, or its pool is damaged.
        """
        refuse_links(Path(folder))
        pool = cls(folder, catalogue=catalogue, ceiling=ceiling, report=report)
        teams = [load_source(seed, pool.catalogue) for seed in seeds]
        make_folders(pool.folder)
        pending = pool.folder / PENDING
        if teams and not (pool.folder / LEDGER).exists():
            write_atomically(pending, "")
        begin(pool.folder, shared=shared)
        pool.refresh()
        for team in teams:
            pool.add(team, Lineage(operator="seed"), op=f"{SEED}{identity_of(team)}")
        if teams:
            remove(pending)
        return pool

    @property
    def shared(self) -> bool:
        """Whether branches of it are merged, so that new names must not collide."""
        return self._current.state.shared

    @property
    def catalogue(self) -> Catalogue:
        """What names its teams may use."""
        if self._given_catalogue is None:
            self._given_catalogue = Catalogue.of_host()
        return self._given_catalogue

    @property
    def members(self) -> Mapping[str, Member]:
        """The teams that were not retired, by name, in the order of their births."""
        with self._current.turn:
            return MappingProxyType(self._current.state.teams.live)

    @property
    def teams(self) -> Mapping[str, Member]:
        """All teams that were ever born, retired ones too; parents come before their children."""
        return MappingProxyType(self._current.state.teams)

    @property
    def agents(self) -> Mapping[str, PoolAgent]:
        """The agents that were not retired, by name, in the order of their births."""
        with self._current.turn:
            return MappingProxyType(self._current.state.agents.live)

    @property
    def all_agents(self) -> Mapping[str, PoolAgent]:
        """All agents that were ever born, retired ones too; parents come before their children."""
        return MappingProxyType(self._current.state.agents)

    @property
    def rejections(self) -> Mapping[str, int]:
        """How many children were dropped, by operator."""
        return MappingProxyType(self._current.state.rejected)

    @property
    def duplicates(self) -> Mapping[str, int]:
        """How many children were there already, by operator."""
        return MappingProxyType(self._current.state.duplicates)

    @property
    def learnt(self) -> Lessons:
        """What was learnt, by its id, in order; what was replaced, too."""
        return self._current.state.learnt

    @property
    def head(self) -> Member | None:
        """The team whose folder `scaffold/` is; None where nobody said that there is one."""
        return self.heads[-1] if self.heads else None

    @property
    def heads(self) -> Sequence[Member]:
        """The teams that were the head, in order; the last one is."""
        return tuple(self._current.state.heads)

    def edited_head(self) -> Team | None:
        """Read what a person made of the head in `scaffold/`; None where there is nothing new.

        Raises:
            InputError: There is no scaffold, or it does not load.
        """
        return self._scaffold.edits(self._current.state.heads)

    def member(self, name: str) -> Member:
        """Give a team by its name, be it retired or not.

        Raises:
            InputError: There is no such team.
        """
        return self._current.member(name)

    def agent(self, name: str) -> PoolAgent:
        """Give an agent by its name, be it retired or not.

        Raises:
            InputError: There is no such agent.
        """
        return self._current.agent(name)

    def find(self, name: str) -> Member | PoolAgent:
        """Return a team or an agent by its name, be it retired or not: no two have the same.

        Raises:
            InputError: There is neither.
        """
        return self._current.find(name)

    def refresh(self) -> None:
        """Take in what other processes have done since.

        Raises:
            StorageError: The ledger is damaged, or is another file than before.
        """
        self._current.refresh()

    def entries(self) -> Iterator[LedgerEntry]:
        """Return all lines of the ledger, from the first on, for reports.

        Raises:
            StorageError: The ledger is damaged.
        """
        return self._current.ledger.read()

    @overload
    def commit(self, change: Added, *, op: str) -> Admission: ...

    @overload
    def commit(
        self,
        change: Revised
        | Evaluated
        | ChildRejected
        | Retired
        | Restored
        | Learnt
        | Forgotten
        | EventNoted,
        *,
        op: str,
    ) -> bool: ...

    @overload
    def commit(self, change: Change, *, op: str) -> Admission | bool: ...

    def commit(self, change: Change, *, op: str) -> Admission | bool:
        """Let something happen to the pool; it is on disk when this returns.

        What is born has the pool's name for it, and its lineage, whatever it says of either. It
        loads here and is below the ceiling, or it is not born; and so is what an agent becomes.

        Args:
            op: The operation. Under the same name, it happens once.

        Returns:
            For what is born, its name, be it new or not; made again, the same. Else whether it was
            recorded: False where this operation was recorded before, where who is to be restored
            is a member, or where an agent is to become what it is.

        Raises:
            ConfigError: What is to be born, or to become of an agent, does not load, or is above
                the ceiling.
            InputError: It names a member or an entry that is not there, or says what a line may
                not say.
            StorageError: The pool cannot be written, or is damaged.
        """
        if self._flush is not None:
            self._flush()
        return self._commits.commit(change, op=op)

    @contextmanager
    def following(self, flush: Callable[[], None]) -> Generator[None]:
        """Have nothing happen to it before that from which it follows is on disk."""
        self._flush = flush
        try:
            yield
        finally:
            self._flush = None

    def add(self, team: Team, lineage: Lineage, *, op: str, name: str | None = None) -> Admission:
        """Commit a `Added`."""
        return self.commit(Added(member=team, lineage=lineage, name=name), op=op)

    def duplicate_of(self, team: Team) -> str | None:
        """Name the team of this pool that is equal to a team up to the names of its agents.

        Retired teams count: what they scored is known. None: there is none.

        Raises:
            StorageError: The file of a team that may be its twin is damaged.
        """
        with self._current.turn:
            return self._current.duplicate_of(team, identity_of(team))

    def remove_orphans(self, *, dry_run: bool = False) -> list[str]:
        """Remove the files under `teams/` and `agents/` that belong to nobody, and name them.

        They were left by who was stopped before an update was done, or put there by hand.

        Raises:
            StorageError: One cannot be removed, or the ledger is damaged.
        """
        with self._current.alone():
            of_teams = self._current.ledger.orphans(f"{TEAMS}/*")
            of_agents = self._folders.orphans(self.all_agents.values())
            for name in () if dry_run else of_teams:
                remove(self.folder / name)
            for name in () if dry_run else of_agents:
                self._folders.remove(name)
        return of_teams + of_agents

    def _expect_files(self) -> None:
        there = {path.stem for path in (self.folder / TEAMS).glob("*.yaml")}
        if missing := sorted(self._current.state.teams.live.keys() - there):
            names = ", ".join(missing[:3]) + (", …" if len(missing) > 3 else "")
            raise self._current.damage(
                f"{self.folder / TEAMS}: the files of {counted(len(missing), 'team')} are missing:"
                f" {names}. Restore them from version control or a backup."
            )
        if is_cut_short(self.folder) and self._is_writable:
            with self._current.alone():  # else whoever merges is about to do it
                put_back(self.folder)
        if self._agents_behind() and self._is_writable:
            with self._current.alone():  # else whoever revises one has not got to its file
                for agent in self._agents_behind():
                    self._folders.write(agent, self.learnt)
        if self._scaffold_is_behind() and self._is_writable:
            with self._current.alone():
                self._scaffold.follow(self._current.state.heads)

    def _scaffold_is_behind(self) -> bool:
        try:
            return bool(self._scaffold.difference(self._current.state.heads).behind)
        except StorageError:
            return False  # the head's own file is at fault: whoever asks for the team is told

    @property
    def _is_writable(self) -> bool:
        return os.access(self.folder, os.W_OK)

    def _agents_behind(self) -> Sequence[PoolAgent]:
        try:
            return self._folders.behind(self.all_agents.values(), self.learnt)
        except StorageError as error:
            raise self._current.damage(str(error)) from error
