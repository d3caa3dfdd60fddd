"""A pool: teams kept between tasks, in a folder that a person can read, compare and version.

* `teams/<name>.yaml`: each team, with its lineage. A file is written once and stays, also when its
  team is retired, so that lineage is always whole.
* `ledger.jsonl`: what happened, a line each: births, evaluations, rejections, retirements. All that
  is known of a team follows from it.

An update is done when its line is on disk, and it has a name, its `op`. Who is not sure whether an
update was done, having been killed meanwhile, makes it again under the same name: it counts once.
"""

from __future__ import annotations

import threading
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Self

from ..runtime.terminal import counted
from ..schema.catalogue import Catalogue
from ..schema.errors import InputError, StorageError
from ..schema.files import locked
from ..schema.hints import did_you_mean
from ..schema.problems import quoted
from ..schema.team import Lineage
from .birth import birth_line, checked_text, named, twin_line
from .identity import are_twins, identity_of
from .layout import LEDGER, LOCK, TEAMS, file_of, make_folders, remove
from .ledger import START, Ledger
from .sources import load_source
from .state import VERSION, Admission, State
from .texts import LONGEST_REASON, told, told_all

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator, Mapping, Sequence

    from ..schema.ceiling import Ceiling
    from ..schema.problems import Problem
    from ..schema.team import Team
    from .ledger import Entry
    from .members import Member
    from .statistics import Statistics, Trial

__all__ = ["Pool"]

MOST_PROBLEMS = 20


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
    def rejections(self) -> Mapping[str, int]:
        """How many children were dropped, by operator."""
        return MappingProxyType(self._state.rejected)

    @property
    def twins(self) -> Mapping[str, int]:
        """How many children were there already, by operator."""
        return MappingProxyType(self._state.twins)

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

    def add(self, team: Team, born: Lineage, *, op: str, name: str | None = None) -> Admission:
        """Add a team, unless a team is there that is equal up to the names of its agents.

        What is added has the pool's name for it and this lineage, whatever `team` says of either.
        It loads here and is below the ceiling, or nothing is added.

        Args:
            team: The team.
            born: Where it comes from. Without edits, they are what differs from the first parent.
            op: The operation. Made again, it gives the same admission.
            name: What to call it, if no team is called so. By default, a team without parents
                keeps its name, and a child has the first ancestor's with a number.

        Raises:
            ConfigError: The team does not load, or is above the ceiling.
            InputError: A parent is no team of this pool.
            StorageError: The pool cannot be written, or is damaged.
        """
        with self._alone():
            if op not in self._state.admissions:
                parents = [self.member(parent) for parent in born.parents]
                child = named(team, born, parents, self._state, wish=name)
                known = self.catalogue.beside(self.folder / TEAMS)
                text, key = checked_text(child, known, self.ceiling), identity_of(child)
                if twin := self._twin(child, key):
                    self._commit(twin_line(child, twin), op=op)
                else:
                    files = {file_of(child.name): text}
                    self._commit(birth_line(child, key), op=op, files=files)
            return self._admission(op)

    def record(self, name: str, trial: Trial, *, op: str) -> bool:
        """Record a trial of a team: its score, or that there is none.

        Args:
            name: The team.
            trial: What came of running it on a task.
            op: The operation.

        Returns:
            Whether it was recorded; False: this operation was recorded before.

        Raises:
            InputError: There is no such team.
            StorageError: The pool cannot be written, or is damaged.
        """
        kind = "failed" if trial.score is None else "evaluated"
        reason = told(trial.reason, LONGEST_REASON)
        value = {"kind": kind, "team": name, **replace(trial, reason=reason).value()}
        return self._record(value, op=op, teams=(name,))

    def rejected(
        self,
        *,
        operator: str,
        reason: str,
        op: str,
        problems: Sequence[Problem | str] = (),
        parents: Sequence[str] = (),
        task: str = "",
        run: str = "",
    ) -> bool:
        """Record that a child was dropped; its parents stay as they are.

        Args:
            operator: What made it.
            reason: Why it was dropped.
            op: The operation.
            problems: What loading said of it.
            parents: The teams that it was made from.
            task: The id of the task on which it was made.
            run: The run in which it was made.

        Returns:
            Whether it was recorded; False: this operation was recorded before.

        Raises:
            InputError: A parent is no team of this pool.
            StorageError: The pool cannot be written, or is damaged.
        """
        value = {
            "kind": "rejected",
            "operator": told(operator),
            "reason": told(reason, LONGEST_REASON),
            "problems": told_all(map(str, problems), MOST_PROBLEMS),
            "parents": tuple(parents),
            "task": told(task),
            "run": told(run),
        }
        return self._record(value, op=op, teams=parents)

    def retire(self, name: str, *, reason: str, op: str) -> bool:
        """Let a team no longer be a member. Its file, its lineage and its evaluations stay.

        Returns:
            Whether it was recorded; False: this operation was recorded before.

        Raises:
            InputError: There is no such team.
            StorageError: The pool cannot be written, or is damaged.
        """
        value = {"kind": "retired", "team": name, "reason": told(reason, LONGEST_REASON)}
        return self._record(value, op=op, teams=(name,))

    def restore(self, name: str, *, op: str) -> bool:
        """Let a retired team be a member again; nothing happens where it is one.

        Returns:
            Whether it was recorded; False: it was a member, or this operation was recorded before.

        Raises:
            InputError: There is no such team.
            StorageError: The pool cannot be written, or is damaged.
        """
        if self.member(name).retired is None:
            return False
        return self._record({"kind": "restored", "team": name}, op=op, teams=(name,))

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
        """Remove the files under `teams/` that belong to no team, and name them.

        They were left by who was stopped before an update was done, or put there by hand.

        Args:
            dry_run: Only name them.

        Raises:
            StorageError: One cannot be removed, or the ledger is damaged.
        """
        with self._alone():
            orphans = self._ledger.orphans(f"{TEAMS}/*")
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

    def _record(self, value: Mapping[str, Any], *, op: str, teams: Sequence[str]) -> bool:
        with self._turn:
            for name in teams:
                self.member(name)
            said = {key: item for key, item in value.items() if item not in ((), "")}
            return self._commit(said, op=op)

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

    def _damage(self, what: str) -> StorageError:
        return StorageError(
            f"{what} To see all that is wrong: mas-pool verify {self.folder}. To go on with what is"
            f" left: mas-pool verify --repair {self.folder}."
        )
