"""The state of a pool from its ledger, and the only way to write: a line, then its effect.

Threads may share it, and processes may share the folder.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from ...schema.team.team import Team
from ...schema.values.errors import InputError, StorageError
from ...schema.values.files import locked
from ...schema.values.hints import did_you_mean
from ...schema.values.problems import quoted
from ..values.identity import are_isomorphic
from ..values.layout import LEDGER, LOCK
from .agents import PoolAgent
from .ledger import START, Ledger, LedgerEntry, TooEarly, line_of
from .lessons import Lessons
from .members import Member
from .snapshot import is_due, keep, newest
from .state import Admission, State, in_order


class Current:
    """A pool's ledger, and its state as of the lines read so far.

    It begins with a valid snapshot, if any, and stores a new one now and then.

    Args:
        report: Receives a message when leftovers of a crash are removed. Default: the log.
    """

    def __init__(self, folder: Path, *, report: Callable[[str], None] | None = None) -> None:
        self.folder = folder
        self.turn = threading.RLock()
        snapshot = newest(folder)
        self.ledger = Ledger(folder / LEDGER, report=report, index=snapshot and snapshot.index)
        self.state = snapshot.state if snapshot else self._nothing_read()
        self._place = self._snapshot_place = snapshot.index.place if snapshot else START

    @contextmanager
    def alone(self) -> Generator[None]:
        """Lock the pool for additions, and read all earlier ones."""
        with self.turn, locked(self.folder / LOCK):
            self.refresh()
            yield

    def refresh(self) -> None:
        """Read the changes that other processes have made since.

        Raises:
            StorageError: The ledger is damaged, or is another file than before.
        """
        with self.turn:
            try:
                self._take_in()
            except StorageError as error:
                if not isinstance(error.__cause__, TooEarly) or not self._put_in_order():
                    raise self.damage(str(error)) from error
                self._take_in()
            if self.ledger.is_mixed and self._put_in_order():
                self._take_in()
            if is_due(self._place, self._snapshot_place):
                self._keep()

    def commit(
        self, value: Mapping[str, Any], *, op: str, files: Mapping[str, str] | None = None
    ) -> bool:
        """Write a line with its files, and apply it to the state.

        Returns:
            Whether it was written: false if this operation was recorded before.
        """
        is_new = self.ledger.commit(value, op=op, files=files or {})
        # Also if it was written before: this process may not have read it yet.
        self.refresh()
        return is_new

    def member(self, name: str) -> Member:
        """Return a team by name, retired or not.

        Raises:
            InputError: There is no such team.
        """
        if name not in self.state.teams:
            self.refresh()  # another process may have added it
        if name not in self.state.teams:
            hint = did_you_mean(name, self.state.teams)
            raise InputError(f"no team {quoted(name)} in {self.folder}.{hint}")
        return self.state.teams[name]

    def agent(self, name: str) -> PoolAgent:
        """Return an agent by name, retired or not.

        Raises:
            InputError: There is no such agent.
        """
        if name not in self.state.agents:
            self.refresh()
        if name not in self.state.agents:
            hint = did_you_mean(name, self.state.agents)
            raise InputError(f"no agent {quoted(name)} in {self.folder}.{hint}")
        return self.state.agents[name]

    def find(self, name: str) -> Member | PoolAgent:
        """Return a team or an agent by name, retired or not.

        Raises:
            InputError: There is neither.
        """
        if self.state.find(name) is None:
            self.refresh()
        return self.state.agents.get(name) or self.member(name)

    def expect_learnt(self, ids: Sequence[str]) -> None:
        """Check that all these lessons exist.

        Raises:
            InputError: One does not.
        """
        with self.turn:
            if not self.state.learnt.keys() >= set(ids):
                self.refresh()  # another process may have learnt it
            for name in ids:
                if name not in self.state.learnt:
                    raise InputError(f"nothing was learnt under {quoted(name)} in {self.folder}.")

    def expect_agents(self, names: Sequence[str]) -> None:
        """Check that all these agents exist."""
        with self.turn:
            for name in names:
                self.agent(name)

    def duplicate_of(self, team: Team, key: str) -> str | None:
        """Return the name of the equal team among those with this identity; None without one."""
        for member in self.state.like(key):
            if member.retired is not None and not member.is_readable:
                continue  # it was retired because its file is lost
            if are_isomorphic(member.team, team):
                return member.name
        return None

    def admitted(self, op: str) -> Admission | None:
        """Return the result of an addition; None if there was no such operation."""
        entry = self.ledger.find(op)
        kind = entry.value["kind"] if entry else None
        if entry is None or kind not in {"born", "twin"}:
            return None
        name = entry.value["team"] if "team" in entry.value else entry.value["agent"]
        return Admission(name=name, is_new=kind == "born")

    def admission(self, op: str) -> Admission:
        """Return the result of an addition.

        Raises:
            StorageError: The ledger is not the one that was read.
            ValueError: The operation was no addition.
        """
        admitted = self.admitted(op)
        if admitted is None:
            raise ValueError(f"the operation {op!r} was no addition. Give each operation its name.")
        return admitted

    def damage(self, problem: str) -> StorageError:
        """Return the error for a damaged pool."""
        return StorageError(
            f"{problem} To see every problem: mas-pool verify {self.folder}. To continue with what"
            f" is left: mas-pool verify --repair {self.folder}."
        )

    def _nothing_read(self) -> State:
        """Return the state before the first line, with lessons that are read on demand."""
        return State(self.folder, learnt=Lessons(self.folder / LEDGER))

    def _take_in(self) -> None:
        last = None
        try:
            for entry in self.ledger.read(self._place):
                self.state.take(entry)
                last = entry
        except ValueError as error:
            line = 1 + (last.number if last else self._place.line)
            raise StorageError(f"{self.folder / LEDGER}: line {line}: {error}.") from error
        finally:
            if last is not None:
                self._place = last.end
        self._place = self.ledger.past_repeats(self._place)

    def _keep(self) -> None:
        """Store a snapshot, if that is possible."""
        self._snapshot_place = self._place  # a failure postpones the next attempt, too
        if not os.access(self.folder, os.W_OK):
            return
        with suppress(StorageError), self.ledger.at_rest() as index:
            # Otherwise the ledger is ahead of the state, as after an append by another thread.
            if index.place == self._place:
                keep(self.folder, self.state, index)

    def _put_in_order(self) -> bool:
        """Rewrite the ledger in a readable order; return false if there is none."""
        moved = False

        def ordered(entries: Sequence[LedgerEntry]) -> list[bytes] | None:
            nonlocal moved
            result = in_order(entries, self.folder)
            moved = result is not entries
            return (
                [line_of(entry.value, entry.op, entry.files, entry.clock) for entry in result]
                if moved
                else None
            )

        if os.access(self.folder / LEDGER, os.W_OK):
            self.ledger.rewrite(ordered)
        if moved:
            # All offsets have changed, so all lines are read again.
            self.state, self._place = self._nothing_read(), START
        return moved
