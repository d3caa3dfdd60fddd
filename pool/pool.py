"""A pool: teams and agents kept between tasks, in a folder to read, to compare and to version.

* `teams/<name>.yaml`: each team, with its lineage. A file is written once and stays, also when its
  team is retired, so that lineage is always whole.
* `agents/<name>.yaml`: each agent as it is. What it was is in the ledger.
* `ledger.jsonl`: what happened, a line each: births, revisions, evaluations, what was learnt. All
  that is known of a team or an agent follows from it.

An update is done when its line is on disk, and it has a name, its `op`. Who is not sure whether an
update was done, having been killed meanwhile, makes it again under the same name: it counts once.
"""

from __future__ import annotations

import threading
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Self, overload

from ..runtime.terminal import counted
from ..schema.catalogue import Catalogue
from ..schema.errors import InputError, StorageError
from ..schema.files import locked
from ..schema.hints import did_you_mean
from ..schema.problems import quoted
from ..schema.team import Lineage, Team
from .agent_files import AgentFiles
from .agents import PoolAgent, check_agent, differences
from .birth import checked_text, named, named_agent, twin_line
from .changes import Born, Learnt, Rejected, Restored, Retired, Revised, Told, Tried
from .identity import are_twins, identity_of
from .layout import AGENTS, LEDGER, LOCK, TEAMS, file_of, make_folders, remove
from .ledger import START, Ledger
from .sources import load_source
from .state import VERSION, Admission, State

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator, Mapping, Sequence

    from ..schema.ceiling import Ceiling
    from .changes import Change
    from .ledger import Entry
    from .lessons import Lessons
    from .members import Member
    from .statistics import Statistics

__all__ = ["Pool"]


class Pool:
    """An open pool. Threads may share it, and processes may share the folder.

    `Pool.init` makes one and `Pool.open` opens one. It holds no file or lock between calls.

    Args:
        folder: Where it is.
        catalogue: What names its teams may use. By default, what is installed.
        ceiling: What teams may ask for at most. None: whatever the catalogue has.
        report: Told when what a crash left unfinished is removed. By default it is logged.
    """

    def __init__(
        self,
        folder: str | Path,
        *,
        catalogue: Catalogue | None = None,
        ceiling: Ceiling | None = None,
        report: Callable[[str], None] | None = None,
    ) -> None:
        self.folder = Path(folder)
        self.ceiling = ceiling
        self._given_catalogue = catalogue
        self._ledger = Ledger(self.folder / LEDGER, report=report)
        self._state = State(self.folder)
        self._files = AgentFiles(folder=self.folder)
        self._place = START
        self._turn = threading.RLock()

    @classmethod
    def open(
        cls,
        folder: str | Path,
        *,
        catalogue: Catalogue | None = None,
        ceiling: Ceiling | None = None,
        report: Callable[[str], None] | None = None,
    ) -> Self:
        """Open a pool. Its teams are read when they are first asked for.

        Raises:
            InputError: There is no pool.
            StorageError: It is damaged.
        """
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
        ceiling: Ceiling | None = None,
        report: Callable[[str], None] | None = None,
    ) -> Self:
        """Make a folder a pool, if it is none yet, and add teams that people wrote.

        Args:
            folder: Where. What else is in it stays.
            seeds: Paths of team files, or `seed:NAME` for teams that come with coterie.
            catalogue: As for the class, and so on.
            ceiling: The same.
            report: The same.

        Raises:
            InputError: The folder cannot be made, has teams without a ledger, or a seed does not
                load; then none of them is added.
            StorageError: The folder cannot be written, or its pool is damaged.
        """
        pool = cls(folder, catalogue=catalogue, ceiling=ceiling, report=report)
        teams = [load_source(seed, pool.catalogue) for seed in seeds]
        make_folders(pool.folder)
        pool._ledger.append({"kind": "pool", "v": VERSION}, op="pool")
        pool.refresh()
        for team in teams:
            pool.add(team, Lineage(operator="seed"), op=f"seed/{identity_of(team)}")
        return pool

    @property
    def catalogue(self) -> Catalogue:
        """What names its teams may use."""
        if self._given_catalogue is None:
            self._given_catalogue = Catalogue.of_host()
        return self._given_catalogue

    @property
    def members(self) -> Mapping[str, Member]:
        """The teams that were not retired, by name, in the order of their births."""
        return MappingProxyType(self._state.live)

    @property
    def teams(self) -> Mapping[str, Member]:
        """All teams that were ever born, retired ones too; parents come before their children."""
        return MappingProxyType(self._state.teams)

    @property
    def agents(self) -> Mapping[str, PoolAgent]:
        """The agents that were not retired, by name, in the order of their births."""
        everybody = self._state.agents.items()
        return MappingProxyType({name: one for name, one in everybody if one.retired is None})

    @property
    def all_agents(self) -> Mapping[str, PoolAgent]:
        """All agents that were ever born, retired ones too; parents come before their children."""
        return MappingProxyType(self._state.agents)

    @property
    def rejections(self) -> Mapping[str, int]:
        """How many children were dropped, by operator."""
        return MappingProxyType(self._state.rejected)

    @property
    def twins(self) -> Mapping[str, int]:
        """How many children were there already, by operator."""
        return MappingProxyType(self._state.twins)

    @property
    def learnt(self) -> Lessons:
        """What was learnt, by its id, in order; what was replaced, too."""
        return self._state.learnt

    def member(self, name: str) -> Member:
        """Give a team by its name, be it retired or not.

        Raises:
            InputError: There is no such team.
        """
        if name not in self._state.teams:
            self.refresh()  # another process may have added it
        if name not in self._state.teams:
            hint = did_you_mean(name, self._state.teams)
            raise InputError(f"no team {quoted(name)} in {self.folder}.{hint}")
        return self._state.teams[name]

    def agent(self, name: str) -> PoolAgent:
        """Give an agent by its name, be it retired or not.

        Raises:
            InputError: There is no such agent.
        """
        if name not in self._state.agents:
            self.refresh()
        if name not in self._state.agents:
            hint = did_you_mean(name, self._state.agents)
            raise InputError(f"no agent {quoted(name)} in {self.folder}.{hint}")
        return self._state.agents[name]

    def find(self, name: str) -> Member | PoolAgent:
        """Give a team or an agent by its name, be it retired or not: no two have the same.

        Raises:
            InputError: There is neither.
        """
        if self._state.find(name) is None:
            self.refresh()
        return self._state.agents.get(name) or self.member(name)

    def refresh(self) -> None:
        """Take in what other processes have done since.

        Raises:
            StorageError: The ledger is damaged, or is another file than before.
        """
        with self._turn:
            try:
                for entry in self._ledger.read(self._place):
                    self._take(entry)
            except StorageError as error:
                raise self._damage(str(error)) from error

    def entries(self) -> Iterator[Entry]:
        """Give all lines of the ledger, from the first on, for reports.

        Raises:
            StorageError: The ledger is damaged.
        """
        return self._ledger.read()

    @overload
    def commit(self, change: Born, *, op: str) -> Admission: ...

    @overload
    def commit(
        self, change: Revised | Tried | Rejected | Retired | Restored | Learnt | Told, *, op: str
    ) -> bool: ...

    @overload
    def commit(self, change: Change, *, op: str) -> Admission | bool: ...

    def commit(self, change: Change, *, op: str) -> Admission | bool:
        """Let something happen to the pool; it is on disk when this returns.

        What is born has the pool's name for it, and its lineage, whatever it says of either. It
        loads here and is below the ceiling, or it is not born; and so is what an agent becomes.

        Args:
            change: What.
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
        match change:
            case Born(member=one):
                bear = self._bear if isinstance(one, Team) else self._bear_agent
                return bear(change, op=op)
            case Revised():
                return self._revise(change, op=op)
            case Retired() | Restored():
                return self._move(change, op=op)
            case Learnt():
                self._expect_learnt(change.replaces)
                return self._commit(change.value(), op=op)
            case _:
                return self._record(change, op=op)

    def add(self, team: Team, born: Lineage, *, op: str, name: str | None = None) -> Admission:
        """Commit a `Born`."""
        return self.commit(Born(member=team, lineage=born, name=name), op=op)

    def twin_of(self, team: Team) -> str | None:
        """Name the team of this pool that is equal to a team up to the names of its agents.

        Retired teams count: what they scored is known. None: there is none.

        Raises:
            StorageError: The file of a team that may be its twin is damaged.
        """
        with self._turn:
            return self._twin(team, identity_of(team))

    def evaluation_of(self, name: str, task: str) -> Statistics | None:
        """Give what is known of a team on a task; None if it was never scored there.

        With the name that `add` or `twin_of` gave, what a twin scored need not be paid for again.

        Raises:
            InputError: There is no such team.
        """
        with self._turn:
            return self.member(name).on_task(task)

    def remove_orphans(self, *, dry_run: bool = False) -> list[str]:
        """Remove the files under `teams/` and `agents/` that belong to nobody, and name them.

        They were left by who was stopped before an update was done, or put there by hand.

        Args:
            dry_run: Only name them.

        Raises:
            StorageError: One cannot be removed, or the ledger is damaged.
        """
        with self._alone():
            orphans = self._ledger.orphans(f"{TEAMS}/*")
            orphans += self._files.orphans(self.all_agents.values())
            for name in () if dry_run else orphans:
                remove(self.folder / name)
        return orphans

    @contextmanager
    def _alone(self) -> Generator[None]:
        """Let nobody else add a team, and know all that were added."""
        with self._turn, locked(self.folder / LOCK):
            self.refresh()
            yield

    def _twin(self, team: Team, key: str) -> str | None:
        for member in self._state.like(key):
            if member.retired is not None and not member.is_readable:
                continue  # it was retired because its file is lost
            if are_twins(member.team, team):
                return member.name
        return None

    def _admission(self, op: str) -> Admission:
        if op not in self._state.admissions:
            raise ValueError(f"the operation {op!r} was no addition. Give each operation its name.")
        return self._state.admissions[op]

    def _bear(self, change: Born, *, op: str) -> Admission:
        """Add a team, or find the one that equals it."""
        with self._alone():
            if op not in self._state.admissions:
                parents = [self.member(parent) for parent in change.members]
                child = named(change, parents, self._state)
                known = self.catalogue.beside(self.folder / TEAMS)
                text, key = checked_text(child, known, self.ceiling), identity_of(child)
                if twin := self._twin(child, key):
                    self._commit(twin_line(child, twin), op=op)
                else:
                    born = Born(member=child, lineage=child.lineage or change.lineage)
                    self._commit(born.value(), op=op, files={file_of(child.name): text})
            return self._admission(op)

    def _bear_agent(self, change: Born, *, op: str) -> Admission:
        """Add an agent: its line first, which has all of it, and then its file."""
        with self._alone():
            if op not in self._state.admissions:
                parents = [self.agent(parent) for parent in change.members]
                agent, lineage = named_agent(change, parents, self._state)
                check_agent(agent, self._known_to_agents, self.ceiling)
                self._commit(Born(member=agent, lineage=lineage).value(), op=op)
            admission = self._admission(op)
            self._files.write(self._state.agents[admission.name])
            return admission

    def _revise(self, change: Revised, *, op: str) -> bool:
        """Let an agent become another one: the line first, and then the file."""
        with self._alone():
            now, done = self.agent(change.agent), False
            to = replace(change.to, id=now.name, member=None)
            if to != now.agent:
                check_agent(to, self._known_to_agents, self.ceiling)
                edits = change.edits or differences(now.agent, to)
                done = self._commit(replace(change, to=to, edits=edits).value(), op=op)
            self._files.write(now)
            return done

    @property
    def _known_to_agents(self) -> Catalogue:
        return self.catalogue.beside(self.folder / AGENTS)

    def _move(self, change: Retired | Restored, *, op: str) -> bool:
        """Let a member be none, or be one again."""
        member = self.find(change.member)
        if isinstance(change, Restored) and member.retired is None:
            return False
        of = "agent" if isinstance(member, PoolAgent) else "team"
        return self._commit(change.value(of), op=op)

    def _record(self, change: Tried | Rejected | Told, *, op: str) -> bool:
        with self._turn:
            for name in change.members:
                self.find(name)
            return self._commit(change.value(), op=op)

    def _expect_learnt(self, ids: Sequence[str]) -> None:
        with self._turn:
            if not self._state.learnt.keys() >= set(ids):
                self.refresh()  # another process may have learnt it
            for one in ids:
                if one not in self._state.learnt:
                    raise InputError(f"nothing was learnt under {quoted(one)} in {self.folder}.")

    def _commit(
        self, value: Mapping[str, Any], *, op: str, files: Mapping[str, str] | None = None
    ) -> bool:
        done = self._ledger.commit(value, op=op, files=files or {})
        self.refresh()
        return done

    def _take(self, entry: Entry) -> None:
        try:
            self._state.take(entry)
        except ValueError as error:
            line = self._place.line + 1
            raise StorageError(f"{self.folder / LEDGER}: line {line}: {error}.") from error
        self._place = entry.end

    def _expect_files(self) -> None:
        there = {path.stem for path in (self.folder / TEAMS).glob("*.yaml")}
        if missing := sorted(self._state.live.keys() - there):
            names = ", ".join(missing[:3]) + (", …" if len(missing) > 3 else "")
            raise self._damage(
                f"{self.folder / TEAMS}: the files of {counted(len(missing), 'team')} are missing:"
                f" {names}. Restore them from version control or a backup."
            )
        if self._agents_behind():
            with self._alone():  # else whoever revises one has not got to its file
                for agent in self._agents_behind():
                    self._files.write(agent)

    def _agents_behind(self) -> Sequence[PoolAgent]:
        try:
            return self._files.behind(self.agents.values())
        except StorageError as error:
            raise self._damage(str(error)) from error

    def _damage(self, what: str) -> StorageError:
        return StorageError(
            f"{what} To see all that is wrong: mas-pool verify {self.folder}. To go on with what is"
            f" left: mas-pool verify --repair {self.folder}."
        )
