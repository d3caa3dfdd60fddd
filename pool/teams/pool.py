"""A pool: a population of teams and agents in a folder that people can read, compare and version.

* `teams/<name>.yaml`: each team, with its lineage. A file is written once and stays, even when its
  team is retired, so that lineage is always complete.
* `agents/<name>/`: each agent's current state and its memory. The ledger has earlier states.
* `scaffold/`: the team that a strategy evolves, if it evolves a single one; its files follow it.
* `ledger.jsonl`: all events, a line each: births, revisions, evaluations, lessons. Everything known
  of a team or an agent follows from it.

An update is done when its line is on disk, and it has a name, its `op`. A process that was killed
and does not know whether its update was done repeats it under the same name: it counts once.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import Self, overload

from ...schema.host.catalogue import Catalogue
from ...schema.loading.ceiling import CapabilityPolicy
from ...schema.team.team import Lineage, Team
from ...schema.values.errors import InputError, StorageError
from ...schema.values.files import remove, write_atomically
from ...schema.values.terminal import counted
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

    `Pool.init` creates one and `Pool.open` opens one. It holds no file or lock between calls.

    Args:
        catalogue: The names that its teams may use. Default: installed ones.
        ceiling: The limits of teams. None: all that the catalogue has.
        report: Receives a message when leftovers of a crash are removed. Default: the log.
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
        """Open a pool. Its teams are read on first use.

        Raises:
            InputError: There is no pool, or it has a link in it.
            StorageError: The pool is damaged.
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
        """Make a folder a pool, unless it is one already, and add teams that people wrote.

        If a process stops before all of them are added, `has_begun` is false until another call has
        added them.

        Args:
            folder: The folder. Its other content stays.
            seeds: Paths of team files, or `seed:NAME` for teams that come with coterie.
            shared: Whether its branches are merged, as with git: new members get names that do not
                collide.
            catalogue: This and the rest are arguments of the class.

        Raises:
            InputError: The folder cannot be created, has teams without a ledger or a link in it, or
                a seed does not load. Then no team is added.
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
        """Whether its branches are merged, so that new names must not collide."""
        return self._current.state.shared

    @property
    def catalogue(self) -> Catalogue:
        """The names that its teams may use."""
        if self._given_catalogue is None:
            self._given_catalogue = Catalogue.of_host()
        return self._given_catalogue

    @property
    def members(self) -> Mapping[str, Member]:
        """The teams that are not retired, by name, in the order of their births."""
        with self._current.turn:
            return MappingProxyType(self._current.state.teams.live)

    @property
    def teams(self) -> Mapping[str, Member]:
        """All teams, including retired ones, by name; parents come before their children."""
        return MappingProxyType(self._current.state.teams)

    @property
    def agents(self) -> Mapping[str, PoolAgent]:
        """The agents that are not retired, by name, in the order of their births."""
        with self._current.turn:
            return MappingProxyType(self._current.state.agents.live)

    @property
    def all_agents(self) -> Mapping[str, PoolAgent]:
        """All agents, including retired ones, by name; parents come before their children."""
        return MappingProxyType(self._current.state.agents)

    @property
    def rejections(self) -> Mapping[str, int]:
        """The number of rejected children, by operator."""
        return MappingProxyType(self._current.state.rejected)

    @property
    def duplicates(self) -> Mapping[str, int]:
        """The number of children that equal an existing team, by operator."""
        return MappingProxyType(self._current.state.duplicates)

    @property
    def learnt(self) -> Lessons:
        """All lessons by id, in order, including replaced ones."""
        return self._current.state.learnt

    @property
    def head(self) -> Member | None:
        """The team in `scaffold/`; None if the pool has no head."""
        return self.heads[-1] if self.heads else None

    @property
    def heads(self) -> Sequence[Member]:
        """All heads in order; the last one is the current head."""
        return tuple(self._current.state.heads)

    def edited_head(self) -> Team | None:
        """Read the head with a person's edits in `scaffold/`; None without edits.

        Raises:
            InputError: There is no scaffold, or it does not load.
        """
        return self._scaffold.edits(self._current.state.heads)

    def member(self, name: str) -> Member:
        """Return a team by name, retired or not.

        Raises:
            InputError: There is no such team.
        """
        return self._current.member(name)

    def agent(self, name: str) -> PoolAgent:
        """Return an agent by name, retired or not.

        Raises:
            InputError: There is no such agent.
        """
        return self._current.agent(name)

    def find(self, name: str) -> Member | PoolAgent:
        """Return a team or an agent by name, retired or not: names are unique.

        Raises:
            InputError: There is neither.
        """
        return self._current.find(name)

    def refresh(self) -> None:
        """Read the changes that other processes have made since.

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
        """Commit a change to the pool; it is on disk when this returns.

        A new member gets its name and its lineage from the pool. A new or revised member must load
        here and be below the ceiling.

        Args:
            op: The operation's name. A change under the same name is made once.

        Returns:
            For a new member, its name, and whether it is new; a repeated call returns the same
            name. For other changes, whether the change was recorded. It is not recorded if this
            operation was recorded before, the member to restore is not retired, or the agent would
            not change.

        Raises:
            ConfigError: The new or revised member does not load, or is above the ceiling.
            InputError: The change names an unknown member or entry, or has an invalid value.
            StorageError: The pool cannot be written, or is damaged.
        """
        if self._flush is not None:
            self._flush()
        return self._commits.commit(change, op=op)

    @contextmanager
    def following(self, flush: Callable[[], None]) -> Generator[None]:
        """In a `with` block, flush the data that each change depends on before committing it."""
        self._flush = flush
        try:
            yield
        finally:
            self._flush = None

    def add(self, team: Team, lineage: Lineage, *, op: str, name: str | None = None) -> Admission:
        """Add a team; see `commit`."""
        return self.commit(Added(member=team, lineage=lineage, name=name), op=op)

    def duplicate_of(self, team: Team) -> str | None:
        """Return the team that equals a team up to its agents' names; None if there is none.

        Retired teams count, because their scores are known.

        Raises:
            StorageError: The file of a possible duplicate is damaged.
        """
        with self._current.turn:
            return self._current.duplicate_of(team, identity_of(team))

    def remove_orphans(self, *, dry_run: bool = False) -> list[str]:
        """Remove and return the files under `teams/` and `agents/` that belong to no member.

        They were left by an interrupted update, or put there by hand.

        Raises:
            StorageError: A file cannot be removed, or the ledger is damaged.
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
            with self._current.alone():  # otherwise a merge in progress will do it
                put_back(self.folder)
        if self._agents_behind() and self._is_writable:
            with self._current.alone():  # otherwise a revision in progress will write the file
                for agent in self._agents_behind():
                    self._folders.write(agent, self.learnt)
        if self._scaffold_is_behind() and self._is_writable:
            with self._current.alone():
                self._scaffold.follow(self._current.state.heads)

    def _scaffold_is_behind(self) -> bool:
        try:
            return bool(self._scaffold.difference(self._current.state.heads).behind)
        except StorageError:
            return False  # the head's own file is damaged; reading the team reports it

    @property
    def _is_writable(self) -> bool:
        return os.access(self.folder, os.W_OK)

    def _agents_behind(self) -> Sequence[PoolAgent]:
        try:
            return self._folders.behind(self.all_agents.values(), self.learnt)
        except StorageError as error:
            raise self._current.damage(str(error)) from error
