"""An index of ledger lines by subject: 16 bytes per line, searched in logarithmic time.

A line is identified by eight bytes of a hash of its subject. So the caller must read the line at a
found place: it may be about another subject.
"""

from __future__ import annotations

import hashlib
import struct
import threading
from array import array
from bisect import bisect_left
from collections.abc import Sequence

WIDTH = 8
"""Bytes of a key, and of an offset."""
AT_ONCE = 16
"""The number of lines from which searching for all of them at once is faster."""
MANY = 65_536
"""The number of lines from which numpy is faster, including its import, and the minimum number held
apart unsorted; the maximum is an eighth of the sorted ones."""


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

    def add(self, about: str, offset: int) -> None:
        """Record the beginning of a line that comes after all recorded ones."""
        key = _key(about)
        with self._turn:
            if key in self._fresh:
                self._others.setdefault(key, []).append(offset)
            else:
                self._fresh[key] = offset
            self._waiting += 1
            if self._waiting > self._room:
                self._sort()

    def add_new(self, about: Sequence[str], offsets: Sequence[int]) -> bool:
        """Record the beginnings of lines like `add`, at once, if no two may share a subject.

        Returns:
            Whether they were recorded; false: two subjects may be equal, or there are too few lines
            for this to be faster.
        """
        digests = b"".join(map(_digest, about))
        keys = struct.unpack(f"<{len(about)}Q", digests)
        with self._turn:
            if not self._are_new(keys, digests):
                return False
            self._fresh.update(zip(keys, offsets, strict=True))
            self._waiting += len(keys)
            if self._waiting > self._room:
                self._sort()
        return True

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

    def _are_new(self, keys: Sequence[int], digests: bytes) -> bool:
        are_different = AT_ONCE <= len(keys) == len({*keys})
        if not are_different or not self._fresh.keys().isdisjoint(keys):
            return False
        if not self._keys:
            return True
        import numpy as np

        known, some = np.frombuffer(self._keys, np.uint64), np.sort(np.frombuffer(digests, "<u8"))
        at = np.searchsorted(known, some)
        return not (known[np.minimum(at, len(known) - 1)] == some).any()

    def _sort(self) -> None:
        others = [(key, number) for key, some in self._others.items() for number in some]
        keys = array("Q", (*self._fresh, *(key for key, _ in others)))
        offsets = array("Q", (*self._fresh.values(), *(number for _, number in others)))
        self._keys, self._offsets = _merged(self._keys, self._offsets, keys, offsets)
        self._fresh, self._others = {}, {}
        self._waiting, self._room = 0, self._most_waiting()

    def _most_waiting(self) -> int:
        return max(MANY, len(self._keys) // 8)


def _merged(
    keys: array[int], offsets: array[int], new_keys: array[int], new_offsets: array[int]
) -> tuple[array[int], array[int]]:
    """Return sorted keys and new ones in one order, with their offsets; equal ones keep theirs."""
    if len(keys) + len(new_keys) < MANY:
        keys, offsets = keys + new_keys, offsets + new_offsets
        order = sorted(range(len(keys)), key=keys.__getitem__)
        return array("Q", [keys[at] for at in order]), array("Q", [offsets[at] for at in order])
    import numpy as np

    known, places, *fresh = (
        np.frombuffer(row, np.uint64) for row in (keys, offsets, new_keys, new_offsets)
    )
    some, begins = (row[np.argsort(fresh[0], kind="stable")] for row in fresh)
    at = np.searchsorted(known, some, side="right")
    keys = array("Q", np.insert(known, at, some).tobytes())
    return keys, array("Q", np.insert(places, at, begins).tobytes())


def _key(about: str) -> int:
    return int.from_bytes(_digest(about), "little")


def _digest(about: str) -> bytes:
    return hashlib.blake2b(about.encode("utf-8", "surrogatepass"), digest_size=WIDTH).digest()
