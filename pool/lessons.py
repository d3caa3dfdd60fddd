"""What was learnt, in the order of the ledger: which entries there are, and which still stand."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..schema.problems import quoted
from .learnt import Learnt

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["Lessons", "standing_for"]


class Lessons(Mapping[str, Learnt]):
    """All entries by their ids, in order; those that were replaced, too. It only ever grows.

    What was learnt by some moment is the first so many of them.
    """

    def __init__(self) -> None:
        self._entries: list[Learnt] = []
        self._places: dict[str, int] = {}
        self._replaced: dict[str, int] = {}

    def take(self, op: str, value: Mapping[str, Any]) -> None:
        """Take in a line of the ledger.

        Raises:
            ValueError: It replaces what was not learnt before.
        """
        entry = Learnt.of(value, op)
        for old in entry.replaces:
            if old not in self._places:
                raise ValueError(f"nothing was learnt before under {quoted(old)}")
            self._replaced.setdefault(old, len(self._entries))
        self._places[op] = len(self._entries)
        self._entries.append(entry)

    def between(self, first: int, end: int | None = None) -> Sequence[Learnt]:
        """Give the entries from a place on, up to another one."""
        return self._entries[first:end]

    def stands(self, entry: str, seen: int | None = None) -> bool:
        """Tell whether an entry is there and not replaced, among the first so many or among all."""
        seen = len(self._entries) if seen is None else seen
        return self._places.get(entry, seen) < seen <= self._replaced.get(entry, seen)

    def replaced_by(self, entry: str) -> Learnt | None:
        """Give the first entry that stands for another one, where there is any."""
        place = self._replaced.get(entry)
        return None if place is None else self._entries[place]

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
