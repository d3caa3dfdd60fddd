"""Checks that all parts of a pool are in its folder: no link leads out of it.

Pools are shared, by git and in archives. A pool whose `teams` or `evolutions` is a link would make
its user read or write wherever a stranger wants. So no command works on such a pool.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from ...schema.values.errors import InputError, StorageError
from ..values.layout import (
    AGENTS,
    EVOLUTIONS,
    LEDGER,
    LOCK,
    MEMORY,
    PENDING,
    SCAFFOLD,
    SNAPSHOTS,
    TEAMS,
)

PARTS = frozenset(
    {
        AGENTS, EVOLUTIONS, LEDGER, LOCK, MEMORY, PENDING, SCAFFOLD, SNAPSHOTS, TEAMS,
        f".{LEDGER}.lock", ".gitattributes", ".gitignore",
    }
)  # fmt: skip
"""The parts of a pool's folder. Other entries are not checked."""
LEVELS = 2
"""How deep the folder of the evolutions is checked: each of their episodes has a folder."""


def refuse_links(pool: Path, *, whole: bool = False) -> None:
    """Check that a folder that is, or will be, a pool has neither links nor pipes in it.

    The folder itself may be a link: the caller names it.

    Args:
        whole: Whether to check its evolutions down to the last file.

    Raises:
        InputError: It has one, or a folder cannot be read.
    """
    for entry in _entries(os.fspath(pool), within=PARTS):
        _check_all(entry, LEVELS if entry.name == EVOLUTIONS and not whole else None)


def ledger_in(pool: Path, *, whole: bool = False) -> Path:
    """Return the ledger of a pool without links; see `refuse_links`.

    Raises:
        InputError: There is no pool.
    """
    refuse_links(pool, whole=whole)
    if not (pool / LEDGER).is_file():
        raise InputError(f"no pool in {str(pool)!r}: it has no {LEDGER}.")
    return pool / LEDGER


def content_of(path: Path) -> bytes:
    """Return the content of a file.

    Raises:
        StorageError: It cannot be read.
    """
    try:
        return path.read_bytes()
    except OSError as error:
        raise StorageError(f"{path}: cannot be read: {error.strerror}.") from error


def refuse_link(folder: Path) -> None:
    """Refuse a folder that is reached through a symbolic link.

    Raises:
        InputError: It is a link.
    """
    if folder.is_symlink():
        raise _link(os.fspath(folder))


def _check_all(entry: os.DirEntry[str], levels: int | None) -> None:
    if entry.is_symlink():
        raise _link(entry.path)
    if entry.is_dir(follow_symlinks=False):
        if levels != 0:
            _check_below(entry.path, None if levels is None else levels - 1)
    elif not entry.is_file(follow_symlinks=False):
        raise InputError(f"{entry.path} is neither a file nor a folder. Remove it from the pool.")
    elif _names(entry) > 1:
        raise InputError(
            f"{entry.path} is a hard link: writing to it would change another file. Replace it by"
            " a copy."
        )


def _names(entry: os.DirEntry[str]) -> int:
    """Return the number of names of a file; 0 if another process has just renamed it."""
    try:
        return entry.stat(follow_symlinks=False).st_nlink
    except FileNotFoundError:
        return 0


def _check_below(folder: str, levels: int | None) -> None:
    for entry in _entries(folder):
        _check_all(entry, levels)


def _entries(folder: str, *, within: frozenset[str] | None = None) -> Iterator[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            yield from (entry for entry in entries if within is None or entry.name in within)
    except (FileNotFoundError, NotADirectoryError):
        return  # reading it reports the error
    except OSError as error:
        raise InputError(f"{folder}: cannot be read: {error.strerror}.") from None


def _link(path: str) -> InputError:
    return InputError(
        f"{path} is a link, so the pool is not used: nothing was read or written. Replace it by"
        " its target, if that belongs to the pool."
    )
