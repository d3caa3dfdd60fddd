"""An index of ledger lines by subject: 16 bytes per line, searched in logarithmic time.

A line is identified by eight bytes of a hash of its subject. So the caller must read the line at a
found place: it may be about another subject.
"""

from __future__ import annotations

import hashlib
import threading
from array import array
from bisect import bisect_left

WIDTH = 8
"""Bytes of a key, and of an offset."""
MANY = 200_000
"""The number of lines from which sorting with numpy is faster, including its import."""
FRESH = 65_536
"""The minimum number of lines held apart unsorted; the maximum is an eighth of the sorted ones."""


class Places:
    """Offsets of lines by keys. It only grows, and threads may share it.

    Args:
        keys: Hashes of the lines' subjects, sorted.
        offsets: The beginnings of these lines; for equal keys in order.
    """

    def __init__(self, keys: bytes = b"", offsets: bytes = b"") -> None:
        self._keys, self._offsets = array("Q", keys), array("Q", offsets)
        if len(self._keys) != len(self._offsets):
            raise ValueError("each key has one offset")
        self._fresh: dict[int, int] = {}
        self._others: dict[int, list[int]] = {}
        self._waiting, self._room = 0, self._most_waiting()
        self._turn = threading.Lock()

    def add(self, about: str, offset: int) -> list[int]:
        """Record the beginning of a line that comes after all recorded ones.

        Returns:
            The offsets of earlier lines that may have the same subject.
        """
        key = _key(about)
        with self._turn:
            earlier = self._at(key)
            if earlier and key in self._fresh:
                self._others.setdefault(key, []).append(offset)
            else:
                self._fresh[key] = offset
            self._waiting += 1
            if self._waiting > self._room:
                self._sort()
        return earlier

    def find(self, about: str) -> list[int]:
        """Return the offsets of the lines that may have a subject, in their order."""
        key = _key(about)
        with self._turn:
            return self._at(key)

    def packed(self) -> tuple[bytes, bytes]:
        """Return the keys and the offsets in the form of the class's arguments."""
        with self._turn:
            if self._waiting:
                self._sort()
            return self._keys.tobytes(), self._offsets.tobytes()

    def _at(self, key: int) -> list[int]:
        numbers: list[int] = []
        keys = self._keys
        at = bisect_left(keys, key)
        while at < len(keys) and keys[at] == key:
            numbers.append(self._offsets[at])
            at += 1
        if key in self._fresh:
            numbers += (self._fresh[key], *self._others.get(key, ()))
        return numbers

    def _sort(self) -> None:
        others = [(key, number) for key, some in self._others.items() for number in some]
        keys, offsets = self._keys, self._offsets
        keys.extend((*self._fresh, *(key for key, _ in others)))
        offsets.extend((*self._fresh.values(), *(number for _, number in others)))
        self._keys, self._offsets = _in_order(keys, offsets)
        self._fresh, self._others = {}, {}
        self._waiting, self._room = 0, self._most_waiting()

    def _most_waiting(self) -> int:
        return max(FRESH, len(self._keys) // 8)


def _in_order(keys: array[int], offsets: array[int]) -> tuple[array[int], array[int]]:
    """Return keys sorted with their offsets; equal keys keep their order."""
    if len(keys) < MANY:
        order = sorted(range(len(keys)), key=keys.__getitem__)
        return array("Q", [keys[at] for at in order]), array("Q", [offsets[at] for at in order])
    import numpy as np

    numbers = np.array([keys, offsets], np.uint64)
    keys, offsets = (
        array("Q", row.tobytes()) for row in numbers[:, np.argsort(numbers[0], kind="stable")]
    )
    return keys, offsets


def _key(about: str) -> int:
    text = about.encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.blake2b(text, digest_size=WIDTH).digest(), "little")
