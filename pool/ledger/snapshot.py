"""Snapshots of a pool beside its ledger, so that opening a long one does not read all of its lines.

A snapshot holds the state after the first lines of the ledger. It is valid if the ledger still
begins with exactly these bytes; then reading continues after them. A snapshot that is invalid,
damaged, or of another version is ignored and written again: the ledger is the truth, and `mas-pool
verify` reads no snapshot.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from ...schema.values.errors import CoterieError, InputError, StorageError
from ...schema.values.files import make_folder, remove, write_atomically
from ...schema.values.json_text import loads
from ..values.layout import LEDGER, SNAPSHOTS
from ..values.places import Places
from .ledger import LedgerIndex, LedgerPosition
from .plain_state import state_of, value_of
from .state import State

VERSION = 3
"""The version of a snapshot's content. Any change to the effect of lines needs a new one."""
LEAST = 4_096
"""The number of lines read without a snapshot, in about the time of importing its reader."""
SHARE = 32
"""A new snapshot is due when one in this many lines came after the last."""
MOST_SNAPSHOTS = 2
"""The maximum number of snapshots: an evolution resumed after a crash may need the previous one."""
IGNORED = ".gitignore"
PIECE = 1 << 20
WRONG = (
    AttributeError, CoterieError, IndexError, KeyError, OverflowError, TypeError, ValueError,
)  # fmt: skip
"""The errors that reading a foreign snapshot may raise."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Snapshot:
    """The state after the first lines of a ledger.

    Attributes:
        index: The ledger's index of these lines.
        state: The state after them. Its user changes it, so each read creates a new one.
    """

    index: LedgerIndex
    state: State

    @classmethod
    def of(cls, folder: Path, content: bytes) -> Self | None:
        """Read a snapshot; None if it is invalid."""
        try:
            seal, _, rest = content.partition(b"\n")
            if seal.decode() != _digest(rest):
                return None
            text, _, tail = rest.partition(b"\n")
            value = loads(text)
            if value["v"] != VERSION or value["order"] != sys.byteorder:
                return None
            place = _place_of(value["place"])
            part = (place.offset, value["ledger"])
            if _confirmed(folder / LEDGER, (part,)) is None:
                return None
            tables: list[bytes] = []
            for size in value["tables"]:
                tables.append(tail[:size])
                tail = tail[size:]
            repeats = {int(start): _place_of(end) for start, end in value["repeats"].items()}
            if any(end.offset <= start for start, end in repeats.items()):
                return None  # otherwise the search for the end of repeats would not end
            *lasting, keys, offsets = tables
            index = LedgerIndex(
                place=place,
                ops=Places(keys, offsets),
                files=frozenset(value["files"]),
                repeats=repeats,
                parts=(part,),
                latest=(int(value["latest"][0]), str(value["latest"][1])),
                is_mixed=bool(value["mixed"]),
            )
            return cls(index=index, state=state_of(folder, value["state"], lasting))
        except WRONG:
            return None


def newest(folder: Path, fits: Callable[[State], bool] = lambda _state: True) -> Snapshot | None:
    """Return the newest valid snapshot of a pool; None without one.

    Args:
        fits: Whether the state of a snapshot is acceptable.
    """
    for path in _paths(folder):
        with suppress(OSError):
            snapshot = Snapshot.of(folder, path.read_bytes())
            if snapshot is not None and fits(snapshot.state):
                return snapshot
    return None


def is_due(place: LedgerPosition, last: LedgerPosition) -> bool:
    """Return whether a new snapshot is worthwhile.

    Args:
        place: The position up to which the ledger was read.
        last: The position of the previous snapshot.
    """
    return place.line - last.line >= max(LEAST, place.line // SHARE)


def keep(folder: Path, state: State, index: LedgerIndex) -> bool:
    """Store a snapshot, if the pool's folder is writable. The caller holds the ledger's lock.

    Args:
        index: The ledger's index of the lines.

    Returns:
        Whether it was stored.
    """
    place = index.place
    value, tables = value_of(state)
    tables += index.ops.packed()
    try:
        # A person or git may have replaced the ledger since it was read.
        ledger = _confirmed(folder / LEDGER, index.parts)
        if ledger is None:
            return False
        fields: Mapping[str, Any] = {
            "v": VERSION,
            "order": sys.byteorder,
            "place": _place(place),
            "ledger": ledger,
            "latest": index.latest,
            "mixed": index.is_mixed,
            "repeats": {str(start): _place(end) for start, end in index.repeats.items()},
            "files": sorted(index.files),
            "tables": [*map(len, tables)],
            "state": value,
        }
        text = json.dumps(fields, separators=(",", ":"), allow_nan=False).encode()
        rest = b"".join((text, b"\n", *tables))
        make_folder(folder / SNAPSHOTS)
        if not (folder / SNAPSHOTS / IGNORED).exists():
            write_atomically(folder / SNAPSHOTS / IGNORED, "*\n")
        path = folder / SNAPSHOTS / f"{place.offset:015d}.snapshot"
        write_atomically(path, b"\n".join((_digest(rest).encode(), rest)))
        _leave(folder, place.offset)
    except (InputError, StorageError, OSError, ValueError):
        return False  # without a snapshot, opening the pool reads all lines
    return True


def _leave(folder: Path, offset: int) -> None:
    """Remove surplus snapshots: all but the newest, and those of a longer, former ledger."""
    paths = _paths(folder)
    ahead = [path for path in paths if int(path.stem) > offset]
    halves = (folder / SNAPSHOTS).glob(".*.snapshot.*")  # leftovers of killed processes
    for path in (*ahead, *[path for path in paths if path not in ahead][MOST_SNAPSHOTS:], *halves):
        remove(path)


def _paths(folder: Path) -> list[Path]:
    """Return all snapshots, the latest first."""
    paths = (folder / SNAPSHOTS).glob("*.snapshot")
    return sorted((path for path in paths if path.stem.isdecimal()), reverse=True)


def _confirmed(path: Path, parts: Sequence[tuple[int, str]]) -> str | None:
    """Return the digest of a file's known beginning; None if the file begins differently.

    Args:
        parts: The sizes and digests of the parts read: see `LedgerIndex`.
    """
    whole = hashlib.sha256()
    with path.open("rb") as stream:
        for size, digest in parts:
            part, left = hashlib.sha256(), size
            while left > 0 and (piece := stream.read(min(left, PIECE))):
                part.update(piece)
                if len(parts) > 1:
                    whole.update(piece)
                left -= len(piece)
            if left or part.hexdigest() != digest:
                return None
    return whole.hexdigest() if len(parts) > 1 else parts[0][1]


def _place(place: LedgerPosition) -> tuple[int, int, str]:
    return place.line, place.offset, place.seal.decode()


def _place_of(value: Any) -> LedgerPosition:
    line, offset, seal = value
    if type(line) is not int or type(offset) is not int:
        raise TypeError(f"{value!r} is not a place")
    return LedgerPosition(line=line, offset=offset, seal=seal.encode())


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
