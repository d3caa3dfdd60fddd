"""Temporary folders of one process, removed later even if the process is killed.

The process holds a lock (`flock`) on each of its folders. The kernel releases it when the process
ends in any way, so a process that gets the lock knows that the owner is gone. On a disk without
locks, nobody gets it, and the folders of a killed process stay.
"""

from __future__ import annotations

import contextlib
import os
import re
import tempfile
from pathlib import Path
from typing import Self

from ...schema.values.beneath import FOLDER
from ...schema.values.errors import JailError
from ...schema.values.files import lock
from .workspace import remove

_NAME = re.compile(r"coterie-[a-z]+\.[a-z0-9_]{8}")


class ScratchFolder:
    """A new folder of this user. A context manager; leaving it removes the folder.

    Args:
        purpose: a lower-case word that becomes part of the folder's name.
        passable: whether others can pass through to paths whose names they know, as the user of a
            jail without mounts must. Else nobody else can enter.

    Raises:
        JailError: the folder could not be created.
    """

    def __init__(self, purpose: str, *, passable: bool = False) -> None:
        self.path, lock = _make_folder(purpose)
        if passable:
            self.path.chmod(0o711)
        self._lock: int | None = lock

    def close(self) -> None:
        """Remove the folder, however deep its content and whatever its modes."""
        lock, self._lock = self._lock, None
        if lock is None:
            return
        try:
            remove(self.path)
        finally:
            os.close(lock)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def sweep() -> None:
    """Remove this user's scratch folders whose owners have ended without removing them.

    A folder that cannot be removed stays. No link is followed.
    """
    folder = Path(tempfile.gettempdir())
    for name in filter(_NAME.fullmatch, os.listdir(folder)):
        lock = _orphan(folder / name)
        if lock is not None:
            with contextlib.suppress(JailError):
                remove(folder / name)
            os.close(lock)


def _make_folder(purpose: str) -> tuple[Path, int]:
    while True:
        try:
            path = Path(tempfile.mkdtemp(prefix=f"coterie-{purpose}.")).resolve()
        except OSError as error:
            raise JailError(f"No temporary folder can be made: {error}.") from error
        with contextlib.suppress(OSError):
            handle = os.open(path, FOLDER)
            if _is_locked(handle) is not False and os.path.samestat(os.fstat(handle), path.stat()):
                return path, handle
            os.close(handle)
        # A sweep found the folder before we locked it, and is removing it.


def _orphan(path: Path) -> int | None:
    """Lock a folder whose owner has ended, for as long as the descriptor is open.

    None if its owner lives, or if it is another user's, a link, or gone.
    """
    try:
        handle = os.open(path, FOLDER)
    except OSError:
        return None
    if os.fstat(handle).st_uid == os.geteuid() and _is_locked(handle):
        return handle
    os.close(handle)
    return None


def _is_locked(handle: int) -> bool | None:
    """Lock a folder; False if another process holds the lock, None if the disk has no locks."""
    try:
        lock(handle, wait=False)
    except BlockingIOError:
        return False
    except OSError:
        return None
    return True
