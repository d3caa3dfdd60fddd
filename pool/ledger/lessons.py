"""All lessons in the order of the ledger, with their owners and replacements.

The memory of an agent has its own entries, entries addressed to it, and the memories of its
ancestors as of its birth, without entries that its own replace. Nothing is copied: an heir knows
its ancestors, and the number of entries at its birth.
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
    """The agents that an agent inherited from, and the number of entries then."""

    inherits: tuple[str, ...]
    at: int


class Lessons(Mapping[str, Learnt]):
    """All entries by id, in order, including replaced ones. It only grows.

    The entries as of some moment are a prefix of it.

    Args:
        ledger: The ledger, from which entries are read on demand. Without one, they are kept here.
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
        """Add an entry.

        Raises:
            TooEarly: It replaces an entry that does not exist yet.
        """
        place = len(self._entries)
        for old in entry.replaces:
            if old not in self._places:
                raise TooEarly(f"nothing was learnt before under {quoted(old)}")
        for old in entry.replaces:
            for owner in entry.owners or (None,):
                self._replaced.setdefault(old, {}).setdefault(owner, place)
        self._places[entry.id] = place
        self._entries.append(None if self._ledger else entry)
        self._offsets.append(offset)
        for owner in entry.owners:
            self._own.setdefault(owner, []).append(place)

    def forget(self, entry: str) -> None:
        """Hide an entry from later searches.

        Raises:
            TooEarly: It does not exist yet.
        """
        if entry not in self._places:
            raise TooEarly(f"nothing was learnt before under {quoted(entry)}")
        self._replaced.setdefault(entry, {}).setdefault(None, len(self._entries) - 1)

    def bear(self, agent: str, inherits: Sequence[str]) -> None:
        """Let an agent inherit the current memories of others."""
        if inherits:
            self._births[agent] = _Birth(tuple(inherits), len(self._entries))
        for inherit in inherits:
            self._heirs.setdefault(inherit, []).append(agent)

    def between(self, first: int, end: int | None = None) -> Sequence[Learnt]:
        """Return the entries with positions in a range."""
        self._expect(range(*slice(first, end).indices(len(self._entries))))
        return [entry for entry in self._entries[first:end] if entry is not None]

    def own(self, owner: str, first: int = 0) -> Sequence[Learnt]:
        """Return the entries that an agent owns, from the `first`th on."""
        places = self._own.get(owner, [])[first:]
        self._expect(places)
        return [self._entry(place) for place in places]

    def line(self, owner: str) -> tuple[str, ...]:
        """Return an agent, and all agents whose entries it may have inherited."""
        texts = [owner]
        for name in texts:
            birth = self._births.get(name)
            texts += (each for each in (birth.inherits if birth else ()) if each not in texts)
        return tuple(texts)

    def archive(self, owner: str, count: int | None = None) -> list[Learnt]:
        """Return all current entries of an agent's memory, in order.

        Args:
            owner: The agent; an agent that is not in the pool may own entries, too.
            count: Use only the first `count` entries, as if there were no others.
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
        """Return whether an entry exists and is not replaced.

        Args:
            count: Use only the first `count` entries; None: all.
            owner: The owner of the memory. None: any memory, or an entry of all agents.
        """
        count = len(self._entries) if count is None else count
        place = self._places.get(entry, count)
        if place >= count:
            return False
        if owner is not None:
            return self._from(place, owner, count) is not None
        return self._is_anywhere(place, count)

    def origin(self, entry: str, owner: str) -> str | None:
        """Return the owner of an entry in an agent's memory; None if it is not there.

        This is the agent itself, or the ancestor that it was inherited from.
        """
        return self._from(self._places[entry], owner, len(self._entries))

    def replaced_by(self, entry: str) -> Learnt | None:
        """Return the first entry that replaces another one; None without one."""
        places = self._replaced.get(entry, {}).values()
        standing = map(self._entry, sorted(places))
        return next((by for by in standing if entry in by.replaces), None)

    def _from(self, place: int, owner: str, count: int) -> str | None:
        """Return the owner of an entry in an agent's memory as of `count` entries; else None."""
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
        """Return the position at which an entry was replaced for an agent; else `NEVER`."""
        replaced = self._replaced.get(entry.id)
        if replaced is None:
            return NEVER
        return min(replaced.get(owner, NEVER), replaced.get(None, NEVER))

    def value(self) -> dict[str, Any]:
        """Return everything except the entries themselves, as a plain value."""
        return {
            "ids": [*self._places],
            "replaced": [[old, *pair] for old, by in self._replaced.items() for pair in by.items()],
            "own": self._own,
            "births": [[name, birth.at, *birth.inherits] for name, birth in self._births.items()],
        }

    @property
    def offsets(self) -> bytes:
        """The offset of each entry's line, as `of` takes it."""
        return self._offsets.tobytes()

    @classmethod
    def of(cls, ledger: Path, value: Any, offsets: bytes) -> Self:
        """Build lessons from their value; entries are read on demand.

        Raises:
            ValueError: The value is malformed; `plain_state.state_of` raises the same for others.
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
        """Read the entries at these positions, unless they were read before."""
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
    """Yield an entry, and all that it replaced, directly or not, each once, the newest first."""
    waiting, ids = [entry], {entry.id}
    while waiting:
        learnt = waiting.pop(0)
        yield learnt
        fresh = [old for old in learnt.replaces if old not in ids]
        ids.update(fresh)
        waiting += [lessons[old] for old in fresh]
