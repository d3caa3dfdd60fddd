"""What was learnt, in the order of the ledger: which entries there are, and for whom they stand.

The archive of an agent has its own entries, those to it and others, and what the archives of those
that it inherits from had at its birth, less what its own entries replace. No line is copied for
that: an heir knows from whom it has its archive, and how much had been learnt when it was born.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..schema.problems import quoted
from .learnt import Learnt
from .ledger import TooEarly

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["Lessons", "standing_for"]

NEVER = sys.maxsize


@dataclass(frozen=True, slots=True)
class _Birth:
    """From whom an agent has its archive, and how many entries there were then."""

    inherits: tuple[str, ...]
    at: int


class Lessons(Mapping[str, Learnt]):
    """All entries by their ids, in order; those that were replaced, too. It only ever grows.

    What was learnt by some moment is the first so many of them.
    """

    def __init__(self) -> None:
        self._entries: list[Learnt] = []
        self._places: dict[str, int] = {}
        self._replaced: dict[str, dict[str | None, int]] = {}
        self._own: dict[str, list[int]] = {}
        self._births: dict[str, _Birth] = {}
        self._heirs: dict[str, list[str]] = {}

    def take(self, entry: Learnt) -> None:
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
        for owner in entry.owners:
            self._own.setdefault(owner, []).append(place)

    def bear(self, agent: str, inherits: Sequence[str]) -> None:
        """Let an agent begin with the archives of others, as they are now."""
        if inherits:
            self._births[agent] = _Birth(tuple(inherits), len(self._entries))
        for one in inherits:
            self._heirs.setdefault(one, []).append(agent)

    def between(self, first: int, end: int | None = None) -> Sequence[Learnt]:
        """Give the entries from a place on, up to another one."""
        return self._entries[first:end]

    def own(self, owner: str, first: int = 0) -> Sequence[Learnt]:
        """Give the entries that are an agent's own, or to it, from one of them on."""
        return [self._entries[place] for place in self._own.get(owner, ())[first:]]

    def line(self, owner: str) -> tuple[str, ...]:
        """Name an agent, and all whose entries it may have inherited."""
        found = [owner]
        for one in found:
            birth = self._births.get(one)
            found += (each for each in (birth.inherits if birth else ()) if each not in found)
        return tuple(found)

    def archive(self, owner: str, seen: int | None = None) -> list[Learnt]:
        """Give all that stands in the archive of an agent, in order.

        Args:
            owner: The agent, be it born by then; an agent that no pool has may have entries, too.
            seen: Only among so many that were learnt first, as if no more had been.
        """
        seen = len(self._entries) if seen is None else seen
        places = {place for one in self.line(owner) for place in self._own.get(one, ())}
        return [
            self._entries[place]
            for place in sorted(places)
            if place < seen and self._from(place, owner, seen) is not None
        ]

    def stands(self, entry: str, seen: int | None = None, *, owner: str | None = None) -> bool:
        """Tell whether an entry is there and not replaced, among the first so many or among all.

        Args:
            entry: Its id.
            seen: How many were learnt; None: all.
            owner: In whose archive. None: in anybody's, or it is everybody's.
        """
        seen = len(self._entries) if seen is None else seen
        place = self._places.get(entry, seen)
        if place >= seen:
            return False
        if owner is not None:
            return self._from(place, owner, seen) is not None
        return self._is_anywhere(place, seen)

    def origin(self, entry: str, owner: str) -> str | None:
        """Name whose own an entry is that stands in the archive of an agent; None: it does not.

        That is the agent itself, or the one that it was inherited from, directly or not.
        """
        return self._from(self._places[entry], owner, len(self._entries))

    def replaced_by(self, entry: str) -> Learnt | None:
        """Give the first entry that stands for another one, where there is any."""
        places = self._replaced.get(entry)
        return None if places is None else self._entries[min(places.values())]

    def _from(self, place: int, owner: str, seen: int) -> str | None:
        """Name whose own an entry is that an agent has when so many were learnt, if it has it."""
        entry = self._entries[place]
        waiting = [(owner, seen)]
        known = {*waiting}
        for one, upto in waiting:
            if self._end(entry, one) < upto:
                continue
            if one in entry.owners:
                return one
            birth = self._births.get(one)
            if birth is not None and place < birth.at:
                there = [(each, min(birth.at, upto)) for each in birth.inherits]
                waiting += (each for each in there if each not in known)
                known.update(there)
        return None

    def _is_anywhere(self, place: int, seen: int) -> bool:
        entry = self._entries[place]
        holders: list[str | None] = [*(entry.owners or (None,))]
        known = {*holders}
        for one in holders:
            if (end := self._end(entry, one)) >= seen:
                return True
            heirs = self._heirs.get(one, ()) if one is not None else ()
            fresh = [each for each in heirs if place < self._births[each].at <= end]
            holders += (each for each in fresh if each not in known)
            known.update(fresh)
        return False

    def _end(self, entry: Learnt, owner: str | None) -> int:
        """Give the place of what replaced an entry for an agent, if anything did."""
        replaced = self._replaced.get(entry.id)
        if replaced is None:
            return NEVER
        return min(replaced.get(owner, NEVER), replaced.get(None, NEVER))

    def __getitem__(self, entry: str) -> Learnt:
        return self._entries[self._places[entry]]

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._entries)


def standing_for(entry: Learnt, lessons: Mapping[str, Learnt]) -> Iterator[Learnt]:
    """Give an entry, and all that it replaced, directly or not, each once: the newest first."""
    waiting, known = [entry], {entry.id}
    while waiting:
        one = waiting.pop(0)
        yield one
        fresh = [old for old in one.replaces if old not in known]
        known.update(fresh)
        waiting += [lessons[old] for old in fresh]
