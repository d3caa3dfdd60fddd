"""Putting a copy of an evolution in the place of another one, so that a kill leaves either.

No system call exchanges two folders everywhere. So between two renames there is none in place: who
opens the pool next, or merges again, finds the old one aside and puts it back. All of that happens
where neither git nor a reader of evolutions looks.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from ...schema.values.errors import StorageError
from ...schema.values.files import make_folders, rename, sync, write_atomically
from ..values.layout import EVOLUTIONS, MANIFEST, PASSING, SNAPSHOTS

ASIDE = f"{SNAPSHOTS}/merging"
"""Where a pool has what is to replace an evolution (`NAME/new`), and what it replaces (`old`)."""
NOT_COPIED = (".git", SNAPSHOTS, *PASSING)
"""What a pool can do without, and the history of git that a copy of it has for itself."""


def replace_evolution(pool: Path, name: str, theirs: Path, manifest: str | None) -> None:
    """Put a copy of an evolution in place of the pool's own, which may be there or not.

    Args:
        pool: The pool's folder. Its lock is held.
        theirs: The folder of the other one, which stays as it is.
        manifest: What the copy says that it was begun with; None: what the other one says.
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
    """Return whether who replaced an evolution was stopped when the old one was aside."""
    return any((pool / ASIDE).glob("*/old"))


def put_back(pool: Path) -> None:
    """Leave nothing aside: an evolution that is not in its place comes back there.

    Args:
        pool: The pool's folder. Its lock is held.
    """
    for old in (pool / ASIDE).glob("*/old"):
        own = pool / EVOLUTIONS / old.parent.name
        if not own.exists():
            _move(old, own)
    # Only now, when every old one is in its place or has been replaced there.
    shutil.rmtree(pool / ASIDE, ignore_errors=True)


def copy_folder(source: Path, target: Path) -> None:
    """Copy a folder of a pool, and wait until the disk has it.

    Raises:
        StorageError: It cannot be read or written.
    """
    try:
        shutil.copytree(
            source, target, symlinks=True, dirs_exist_ok=True,
            ignore=shutil.ignore_patterns(*NOT_COPIED),
        )  # fmt: skip
        for path in (*target.rglob("*"), target):
            if not path.is_symlink() and (path.is_file() or path.is_dir()):
                sync(path)
    except OSError as error:
        raise StorageError(error.errno, error.strerror, str(source)) from error


def _move(folder: Path, name: Path) -> None:
    rename(folder, name)
    sync(name.parent)
