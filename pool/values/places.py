"""Where lines of a ledger stand, by what they are about: 16 bytes each, found in logarithmic time.

A line is known by eight bytes of a hash of what it is about. So whoever finds a place reads the
line that stands there: it may be about something else.
"""

from __future__ import annotations

import hashlib
import threading
from array import array
from bisect import bisect_left
from collections.abc import Sequence

WIDTH = 8
"""Bytes of a key, and of an offset."""
MANY = 200_000
"""Lines that are sorted faster by numpy, even where it has to be imported for that."""
FRESH = 65_536
"""Lines that may be held apart, at least; at most as many as an eighth of those that are sorted."""


class Places:
    """Offsets of lines by keys. It only ever grows, and threads may share it.

    Args:
        keys: Hashes of what lines are about, in order.
        offsets: Where these lines begin; of equal keys the first line comes first.
    """

    def __init__(self, keys: bytes = b"", offsets: bytes = b"") -> None:
        self._keys, self._offsets = array("Q", keys), array("Q", offsets)
        if len(self._keys) != len(self._offsets):
            raise ValueError("each key has one offset")
        self._fresh: dict[int, int] = {}
        self._others: dict[int, list[int]] = {}
        self._waiting = 0
        self._turn = threading.Lock()

    def add(self, about: str, offset: int) -> None:
        """Note where a line begins, which stands after all that were added before."""
        key = _key(about)
        with self._turn:
            if key in self._fresh:
                self._others.setdefault(key, []).append(offset)
            else:
                self._fresh[key] = offset
            self._waiting += 1
            if self._waiting > max(FRESH, len(self._keys) // 8):
                self._sort()

    def find(self, about: str) -> list[int]:
        """Return the offsets of the lines that may be about something, in their order."""
        key, numbers = _key(about), list[int]()
        with self._turn:
            at = bisect_left(self._keys, key)
            while at < len(self._keys) and self._keys[at] == key:
                numbers.append(self._offsets[at])
                at += 1
            if key in self._fresh:
                numbers += (self._fresh[key], *self._others.get(key, ()))
        return numbers

    def packed(self) -> tuple[bytes, bytes]:
        """Return the keys and the offsets, as the class takes them."""
        with self._turn:
            if self._waiting:
                self._sort()
            return self._keys.tobytes(), self._offsets.tobytes()

    def _sort(self) -> None:
        fresh = [*self._fresh.items()]
        fresh += [(key, number) for key, some in self._others.items() for number in some]
        keys = array("Q", [key for key, _ in fresh])
        offsets = array("Q", [number for _, number in fresh])
        order = _order(self._keys + keys)
        self._keys, self._offsets = (
            array("Q", [some[at] for at in order])
            for some in (self._keys + keys, self._offsets + offsets)
        )
        self._fresh, self._others, self._waiting = {}, {}, 0


def _order(keys: array[int]) -> Sequence[int]:
    """Return where keys stand when they are in order; equal ones stay in theirs."""
    if len(keys) < MANY:
        return sorted(range(len(keys)), key=keys.__getitem__)
    import numpy as np

    return np.argsort(np.array(keys, np.uint64), kind="stable").tolist()


def _key(about: str) -> int:
    text = about.encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.blake2b(text, digest_size=WIDTH).digest(), "little")
