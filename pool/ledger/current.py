"""The state of a pool by its ledger, and the one way to write on: a line, then what it means.

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
from .members import Member
from .snapshot import is_due, keep, newest
from .state import Admission, State, in_order


class Current:
    """A pool's ledger, and its state as of the lines that were read.

    It begins with a snapshot, where there is one that fits, and now and then keeps one.

    Args:
        report: Told when what a crash left unfinished is removed. By default it is logged.
    """

    def __init__(self, folder: Path, *, report: Callable[[str], None] | None = None) -> None:
        self.folder = folder
        self.turn = threading.RLock()
        snapshot = newest(folder)
        self.ledger = Ledger(folder / LEDGER, report=report, index=snapshot and snapshot.index)
        self.state = snapshot.state if snapshot else State(folder)
        self._place = self._snapshot_place = snapshot.index.place if snapshot else START

    @contextmanager
    def alone(self) -> Generator[None]:
        """Let nobody else add anything, and know all that was added."""
        with self.turn, locked(self.folder / LOCK):
            self.refresh()
            yield

    def refresh(self) -> None:
        """Take in what other processes have done since.

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
        """Write a line, with the files that belong to it, and take it in.

        Returns:
            Whether it was written: False where this operation was before.
        """
        is_new = self.ledger.commit(value, op=op, files=files or {})
        # Also where it was written before: this process may not have taken it in yet.
        self.refresh()
        return is_new

    def member(self, name: str) -> Member:
        """Give a team by its name, be it retired or not.

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
        """Give an agent by its name, be it retired or not.

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
        """Return a team or an agent by its name, be it retired or not.

        Raises:
            InputError: There is neither.
        """
        if self.state.find(name) is None:
            self.refresh()
        return self.state.agents.get(name) or self.member(name)

    def expect_learnt(self, ids: Sequence[str]) -> None:
        """Make sure that entries were learnt.

        Raises:
            InputError: One was not.
        """
        with self.turn:
            if not self.state.learnt.keys() >= set(ids):
                self.refresh()  # another process may have learnt it
            for name in ids:
                if name not in self.state.learnt:
                    raise InputError(f"nothing was learnt under {quoted(name)} in {self.folder}.")

    def expect_agents(self, names: Sequence[str]) -> None:
        """Make sure that agents were born."""
        with self.turn:
            for name in names:
                self.agent(name)

    def duplicate_of(self, team: Team, key: str) -> str | None:
        """Name the team that equals one of an identity, up to the names of its agents."""
        for member in self.state.like(key):
            if member.retired is not None and not member.is_readable:
                continue  # it was retired because its file is lost
            if are_isomorphic(member.team, team):
                return member.name
        return None

    def admitted(self, op: str) -> Admission | None:
        """Return the result of an addition; None where there was no such operation."""
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
            ValueError: The operation was none.
        """
        admitted = self.admitted(op)
        if admitted is None:
            raise ValueError(f"the operation {op!r} was no addition. Give each operation its name.")
        return admitted

    def damage(self, problem: str) -> StorageError:
        """Make the error of a pool that is damaged."""
        return StorageError(
            f"{problem} To see every problem: mas-pool verify {self.folder}. To continue with what"
            f" is left: mas-pool verify --repair {self.folder}."
        )

    def _take_in(self) -> None:
        for entry in self.ledger.read(self._place):
            self._take(entry)
        self._place = self.ledger.past_repeats(self._place)

    def _keep(self) -> None:
        """Keep a snapshot, where one can be written."""
        self._snapshot_place = self._place  # who cannot keep one tries again as much later
        if not os.access(self.folder, os.W_OK):
            return
        with suppress(StorageError), self.ledger.at_rest() as index:
            # Else the ledger knows more than the state, as where a thread has just appended.
            if index.place == self._place:
                keep(self.folder, self.state, index)

    def _put_in_order(self) -> bool:
        """Write the ledger anew in an order in which it can be read; False: there is none."""
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
            # Each line has another place now, so all of them are read again.
            self.state, self._place = State(self.folder), START
        return moved

    def _take(self, entry: LedgerEntry) -> None:
        try:
            self.state.take(entry)
        except ValueError as error:
            line = self._place.line + 1
            raise StorageError(f"{self.folder / LEDGER}: line {line}: {error}.") from error
        self._place = entry.end
