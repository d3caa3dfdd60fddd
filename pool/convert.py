"""Making a pool of the first format one of today's, once.

There, what was learnt had a file of its own, `memory/experience.jsonl`. Each of its entries becomes
a line of the ledger, at the place where it was learnt: after what its episode wrote. The ledger is
written anew in one piece, so the pool is either what it was or converted; then the file is renamed.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from ..schema.errors import InputError, StorageError
from ..schema.files import locked, rename
from ..schema.json_text import loads
from .layout import LEDGER, LOCK, MEMORY
from .learnt import Learnt, OperatorOutcome
from .ledger import Ledger, line_of
from .own_files import refuse_links
from .state import VERSION

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from .ledger import Entry

__all__ = ["OLD_FILE", "Converted", "convert"]

OLD_FILE = f"{MEMORY}/experience.jsonl"
MISSHAPEN = (AttributeError, InputError, KeyError, RecursionError, TypeError, ValueError)
"""What reading a line raises that is no entry."""
_EPISODE = re.compile(r"(.+)/(\d{6})/[^/]+")


@dataclass(frozen=True, kw_only=True, slots=True)
class Converted:
    """What came of it.

    Attributes:
        learnt: Entries that became lines of the ledger.
        notes: What a person should know: lines that are no entries, and where the old file is.
    """

    learnt: int
    notes: tuple[str, ...] = ()


def convert(folder: Path) -> Converted:
    """Convert a pool. One that is converted stays as it is.

    Args:
        folder: The pool. Nobody else should be at work on it.

    Raises:
        InputError: There is no pool, or a link in it.
        StorageError: It is damaged, or cannot be written.
    """
    refuse_links(folder)
    path, old = folder / LEDGER, folder / OLD_FILE
    if not path.is_file():
        raise InputError(f"no pool in {str(folder)!r}: it has no {LEDGER}.")
    entries, notes = _entries(old)
    fresh = list[Learnt]()

    def lines(there: Sequence[Entry]) -> Iterator[bytes] | None:
        fresh.extend(_fresh(entries, there))
        is_old = any(one.value["kind"] == "pool" and one.value["v"] != VERSION for one in there)
        return _lines(there, fresh) if fresh or is_old else None

    with locked(folder / LOCK):
        Ledger(path).rewrite(lines)
        if old.exists():
            kept = old.with_name(f"{old.name}.converted")
            rename(old, kept)
            notes.append(f"{kept} is what {OLD_FILE} was; nobody reads it any more.")
    return Converted(learnt=len(fresh), notes=tuple(notes))


def _fresh(entries: Sequence[Learnt], there: Sequence[Entry]) -> Iterator[Learnt]:
    """Give the entries that are no lines yet, each under an operation that no line has."""
    kinds = {one.op: one.value["kind"] for one in there}
    for entry in entries:
        op = entry.id if kinds.get(entry.id, "learnt") == "learnt" else f"learnt/{entry.id}"
        if op not in kinds:
            yield replace(entry, id=op)


def _lines(there: Sequence[Entry], entries: Sequence[Learnt]) -> Iterator[bytes]:
    """Give the lines of the ledger with those of the entries, each where it was learnt."""
    places = _places(there, entries)
    for number, one in enumerate(there):
        value = {**one.value, "v": VERSION} if one.value["kind"] == "pool" else one.value
        yield line_of(value, one.op, one.files)
        for entry in places.get(number, ()):
            yield line_of(entry.value(), entry.id)


def _places(there: Sequence[Entry], entries: Sequence[Learnt]) -> Mapping[int, Sequence[Learnt]]:
    """Say after which line each entry stands: the last one of its episode, or of those before.

    What no episode of an evolution wrote stands after the entry that stood before it.
    """
    ends: dict[str, dict[int, int]] = {}
    for at, one in enumerate(there):
        for evolution, number in _of(one.op):
            ends.setdefault(evolution, {})[number] = at
    places: dict[int, list[Learnt]] = {}
    at = 0
    for entry in entries:
        for evolution, number in _of(entry.id):
            written = ends.get(evolution, {})
            at = next((written[one] for one in range(number, -1, -1) if one in written), at)
        places.setdefault(at, []).append(entry)
    return places


def _of(op: str) -> Iterator[tuple[str, int]]:
    """Tell the evolution and the episode that an operation names, if it does."""
    if found := _EPISODE.fullmatch(op):
        yield found[1], int(found[2])


def _entries(path: Path) -> tuple[list[Learnt], list[str]]:
    """Read the old file; lines that are no entries are told, and so are ids that stand twice.

    Raises:
        StorageError: It cannot be read.
    """
    entries, notes = dict[str, Learnt](), list[str]()
    for number, line in enumerate(_content(path).split(b"\n"), 1):
        try:
            entry = _entry(loads(line)) if line.strip() else None
        except MISSHAPEN as error:
            notes.append(f"{path}:{number}: this line is passed over: {error}")
            continue
        if entry is not None and entries.setdefault(entry.id, entry) is not entry:
            notes.append(f"{path}:{number}: this line is passed over: its id stands further up.")
    return list(entries.values()), notes


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes() if path.exists() else b""
    except OSError as error:
        raise StorageError(f"{path}: cannot be read: {error.strerror}.") from error


def _entry(value: Mapping[str, Any]) -> Learnt:
    """Read an entry of the first format.

    Raises:
        InputError: It says what no entry says. So do the other errors of `_entries`.
    """
    origin = value.get("provenance", {})
    entry = Learnt(
        id=value["id"],
        kind=value["kind"],
        task=value["task"],
        text=value["summary"],
        niche=value.get("niche"),
        team=value.get("team"),
        reward=value.get("reward"),
        operators=tuple(OperatorOutcome(**one) for one in value.get("operators", ())),
        run=origin.get("run") or origin.get("config"),
    )
    entry.value()  # as the schema has it
    return entry
