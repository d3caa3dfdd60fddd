"""Replaces an evolution by a copy so that a kill leaves one of the two.

No system call exchanges two folders everywhere. So between two renames neither is in place: the
next process that opens the pool, or merges again, moves the old one back. All of that happens where
neither git nor a reader of evolutions looks.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from ...schema.values.files import make_folders, naming, rename, sync, write_atomically
from ..values.layout import EVOLUTIONS, MANIFEST, PASSING, SNAPSHOTS

ASIDE = f"{SNAPSHOTS}/merging"
"""The folder for an evolution's replacement (`NAME/new`), and for the replaced one (`old`)."""
NOT_COPIED = (".git", SNAPSHOTS, *PASSING)
"""Files that a pool can do without, and the git history of a copy."""


def replace_evolution(pool: Path, name: str, theirs: Path, manifest: str | None) -> None:
    """Put a copy of an evolution in the place of the pool's own, if any.

    Args:
        pool: The pool's folder. The caller holds its lock.
        theirs: The folder of the other evolution, which stays unchanged.
        manifest: The manifest of the copy; None: the other evolution's.
    """
    own, aside = pool / EVOLUTIONS / name, pool / ASIDE / name
    make_folders(own.parent)
    make_folders(aside)
    try:
        copy_folder(theirs, aside / "new")
        if manifest is not None:
            write_atomically(aside / "new" / MANIFEST, manifest)
        if own.exists():
            _move(own, aside / "old")
        _move(aside / "new", own)
    finally:
        put_back(pool)


def is_cut_short(pool: Path) -> bool:
    """Return whether a replacement was interrupted while the old evolution was aside."""
    return any((pool / ASIDE).glob("*/old"))


def put_back(pool: Path) -> None:
    """Move interrupted evolutions back to their place, and remove temporary folders.

    Args:
        pool: The pool's folder. The caller holds its lock.
    """
    for old in (pool / ASIDE).glob("*/old"):
        own = pool / EVOLUTIONS / old.parent.name
        if not own.exists():
            _move(old, own)
    # Only now, when every old evolution is back in place or replaced.
    shutil.rmtree(pool / ASIDE, ignore_errors=True)


def copy_folder(source: Path, target: Path) -> None:
    """Copy a folder of a pool, and flush the copy to disk.

    Raises:
        StorageError: It cannot be read or written.
    """
    with naming(source):
        shutil.copytree(
            source, target, symlinks=True, dirs_exist_ok=True,
            ignore=shutil.ignore_patterns(*NOT_COPIED),
        )  # fmt: skip
        for path in (*target.rglob("*"), target):
            if not path.is_symlink() and (path.is_file() or path.is_dir()):
                sync(path)


def _move(folder: Path, name: Path) -> None:
    rename(folder, name)
    sync(name.parent)
