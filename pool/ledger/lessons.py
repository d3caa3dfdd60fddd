"""What was learnt, in the order of the ledger: which entries there are, and for whom they stand.

The archive of an agent has its own entries, those to it and others, and what the archives of those
that it inherits from had at its birth, less what its own entries replace. No line is copied for
that: an heir knows from whom it has its archive, and how much had been learnt when it was born.
"""

from __future__ import annotations

import sys
from array import array
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self, cast

from ...schema.values.errors import StorageError
from ...schema.values.problems import quoted
from .learnt import Learnt
from .ledger import TooEarly, lines_at

NEVER = sys.maxsize


@dataclass(frozen=True, slots=True)
class _Birth:
    """From whom an agent has its archive, and how many entries there were then."""

    inherits: tuple[str, ...]
    at: int


class Lessons(Mapping[str, Learnt]):
    """All entries by their ids, in order; those that were replaced, too. It only ever grows.

    What was learnt by some moment is the first so many of them.

    Args:
        ledger: Where the lines of entries are read of which only the place is known, if any are.
    """

    def __init__(self, ledger: Path | None = None) -> None:
        self._ledger = ledger
        self._entries: list[Learnt | None] = []
        self._offsets = array("Q")
        self._places: dict[str, int] = {}
        self._replaced: dict[str, dict[str | None, int]] = {}
        self._own: dict[str, list[int]] = {}
        self._births: dict[str, _Birth] = {}
        self._heirs: dict[str, list[str]] = {}

    def take(self, entry: Learnt, offset: int = 0) -> None:
        """Take in an entry.

        Raises:
            TooEarly: It replaces what was not learnt before.
        """
        place = len(self._entries)
        for old in entry.replaces:
            if old not in self._places:
                raise TooEarly(f"nothing was learnt before under {quoted(old)}")
        for old in entry.replaces:
            for owner in entry.owners or (None,):
                self._replaced.setdefault(old, {}).setdefault(owner, place)
        self._places[entry.id] = place
        self._entries.append(entry)
        self._offsets.append(offset)
        for owner in entry.owners:
            self._own.setdefault(owner, []).append(place)

    def forget(self, entry: str) -> None:
        """Let an entry be found no more by those who look from now on.

        Raises:
            TooEarly: It was not learnt before.
        """
        if entry not in self._places:
            raise TooEarly(f"nothing was learnt before under {quoted(entry)}")
        self._replaced.setdefault(entry, {}).setdefault(None, len(self._entries) - 1)

    def bear(self, agent: str, inherits: Sequence[str]) -> None:
        """Let an agent begin with the archives of others, as they are now."""
        if inherits:
            self._births[agent] = _Birth(tuple(inherits), len(self._entries))
        for inherit in inherits:
            self._heirs.setdefault(inherit, []).append(agent)

    def between(self, first: int, end: int | None = None) -> Sequence[Learnt]:
        """Return the entries from a place on, up to another one."""
        self._expect(range(*slice(first, end).indices(len(self._entries))))
        return [entry for entry in self._entries[first:end] if entry is not None]

    def own(self, owner: str, first: int = 0) -> Sequence[Learnt]:
        """Return the entries that are an agent's own, or to it, from one of them on."""
        places = self._own.get(owner, [])[first:]
        self._expect(places)
        return [self._entry(place) for place in places]

    def line(self, owner: str) -> tuple[str, ...]:
        """Name an agent, and all whose entries it may have inherited."""
        texts = [owner]
        for name in texts:
            birth = self._births.get(name)
            texts += (each for each in (birth.inherits if birth else ()) if each not in texts)
        return tuple(texts)

    def archive(self, owner: str, count: int | None = None) -> list[Learnt]:
        """Return all that stands in the archive of an agent, in order.

        Args:
            owner: The agent, be it born by then; an agent that no pool has may have entries, too.
            count: Only among so many that were learnt first, as if no more had been.
        """
        count = len(self._entries) if count is None else count
        places = {place for name in self.line(owner) for place in self._own.get(name, ())}
        self._expect(sorted(places))
        return [
            self._entry(place)
            for place in sorted(places)
            if place < count and self._from(place, owner, count) is not None
        ]

    def stands(self, entry: str, count: int | None = None, *, owner: str | None = None) -> bool:
        """Return whether an entry is there and not replaced, among the first so many or among all.

        Args:
            count: How many were learnt; None: all.
            owner: In whose archive. None: in anybody's, or it is everybody's.
        """
        count = len(self._entries) if count is None else count
        place = self._places.get(entry, count)
        if place >= count:
            return False
        if owner is not None:
            return self._from(place, owner, count) is not None
        return self._is_anywhere(place, count)

    def origin(self, entry: str, owner: str) -> str | None:
        """Name whose own an entry is that stands in the archive of an agent; None: it does not.

        That is the agent itself, or the one that it was inherited from, directly or not.
        """
        return self._from(self._places[entry], owner, len(self._entries))

    def replaced_by(self, entry: str) -> Learnt | None:
        """Return the first entry that stands for another one, where there is any."""
        places = self._replaced.get(entry, {}).values()
        standing = map(self._entry, sorted(places))
        return next((by for by in standing if entry in by.replaces), None)

    def _from(self, place: int, owner: str, count: int) -> str | None:
        """Name whose own an entry is that an agent has when so many were learnt, if it has it."""
        entry = self._entry(place)
        waiting = [(owner, count)]
        pairs = {*waiting}
        for name, upto in waiting:
            if self._end(entry, name) < upto:
                continue
            if name in entry.owners:
                return name
            birth = self._births.get(name)
            if birth is not None and place < birth.at:
                there = [(each, min(birth.at, upto)) for each in birth.inherits]
                waiting += (each for each in there if each not in pairs)
                pairs.update(there)
        return None

    def _is_anywhere(self, place: int, count: int) -> bool:
        entry = self._entry(place)
        holders: list[str | None] = [*(entry.owners or (None,))]
        names = {*holders}
        for holder in holders:
            if (end := self._end(entry, holder)) >= count:
                return True
            heirs = self._heirs.get(holder, ()) if holder is not None else ()
            fresh = [each for each in heirs if place < self._births[each].at <= end]
            holders += (each for each in fresh if each not in names)
            names.update(fresh)
        return False

    def _end(self, entry: Learnt, owner: str | None) -> int:
        """Return the place of what replaced an entry for an agent, if anything did."""
        replaced = self._replaced.get(entry.id)
        if replaced is None:
            return NEVER
        return min(replaced.get(owner, NEVER), replaced.get(None, NEVER))

    def value(self) -> dict[str, Any]:
        """Return all that is known but the entries themselves, as a plain value."""
        return {
            "ids": [*self._places],
            "replaced": [[old, *pair] for old, by in self._replaced.items() for pair in by.items()],
            "own": self._own,
            "births": [[name, birth.at, *birth.inherits] for name, birth in self._births.items()],
        }

    @property
    def offsets(self) -> bytes:
        """Where the line of each entry begins, as `of` takes it."""
        return self._offsets.tobytes()

    @classmethod
    def of(cls, ledger: Path, value: Any, offsets: bytes) -> Self:
        """Make them from their value; an entry is read when somebody asks for it.

        Raises:
            ValueError: It is no such value; so are the others of `plain_state.state_of`.
        """
        lessons = cls(ledger)
        lessons._offsets = array("Q", offsets)
        lessons._places = {item: place for place, item in enumerate(value["ids"])}
        lessons._entries = [None] * len(lessons._places)
        places = range(len(lessons._offsets))
        if len(places) != len(lessons._places):
            raise ValueError("each entry has one place")
        for old, owner, place in value["replaced"]:
            lessons._replaced.setdefault(old, {})[owner] = places[place]
        lessons._own = {
            owner: [places[item] for item in own] for owner, own in value["own"].items()
        }
        for entry, at, *inherits in value["births"]:
            lessons._births[entry] = _Birth(tuple(inherits), range(len(places) + 1)[at])
            for each in inherits:
                lessons._heirs.setdefault(each, []).append(entry)
        return lessons

    def _entry(self, place: int) -> Learnt:
        self._expect([place])
        return cast("Learnt", self._entries[place])

    def _expect(self, places: Sequence[int]) -> None:
        """Read the entries of some places that were not read yet."""
        missing = [place for place in places if self._entries[place] is None]
        if self._ledger is None or not missing:
            return
        lines = lines_at(self._ledger, [self._offsets[place] for place in missing])
        for place, line in zip(missing, lines, strict=True):
            if line.value["kind"] != "learnt" or self._places.get(line.op) != place:
                raise StorageError(f"{self._ledger}: not the file that was read. Open it again.")
            self._entries[place] = Learnt.of(line.value, line.op)

    def __getitem__(self, entry: str) -> Learnt:
        return self._entry(self._places[entry])

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._entries)


def standing_for(entry: Learnt, lessons: Mapping[str, Learnt]) -> Iterator[Learnt]:
    """Yield an entry, and all that it replaced, directly or not, each once: the newest first."""
    waiting, ids = [entry], {entry.id}
    while waiting:
        learnt = waiting.pop(0)
        yield learnt
        fresh = [old for old in learnt.replaces if old not in ids]
        ids.update(fresh)
        waiting += [lessons[old] for old in fresh]
