"""Folders for the use of one process, which do not stay for ever when that process is killed.

The process holds a lock (`flock`) on each of its folders. The kernel lets go of it when the process
ends, whatever ended it: so whoever gets the lock of such a folder knows that its owner is gone.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import tempfile
from pathlib import Path
from typing import Self

from ...schema.errors import JailError
from .workspace import remove

__all__ = ["ScratchFolder", "sweep"]

_NAME = re.compile(r"coterie-[a-z]+\.[a-z0-9_]{8}")
_ATTEMPTS = 10


class ScratchFolder:
    """A new folder that nobody else can enter. A context manager; leaving it removes the folder.

    Args:
        purpose: what it is for, a lower-case word; it shows in the folder's name.

    Attributes:
        path: where it is.

    Raises:
        JailError: it could not be made, or its disk knows no locks.
    """

    def __init__(self, purpose: str) -> None:
        self.path, self._lock = _made(purpose)

    def close(self) -> None:
        """Remove the folder, however deep what is in it and whatever its modes.

        Raises:
            JailError: it could not be removed; once its owner has ended, `sweep` tries again.
        """
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
    """Remove the scratch folders of this user whose owners have ended without doing so.

    What cannot be removed stays. No link is followed.
    """
    folder = Path(tempfile.gettempdir())
    for name in filter(_NAME.fullmatch, os.listdir(folder)):
        lock = _locked(folder / name)
        if lock is not None:
            with contextlib.suppress(JailError):
                remove(folder / name)
            os.close(lock)


def _made(purpose: str) -> tuple[Path, int | None]:
    for _ in range(_ATTEMPTS):
        try:
            path = Path(tempfile.mkdtemp(prefix=f"coterie-{purpose}.")).resolve()
        except OSError as error:
            raise JailError(f"No temporary folder can be made: {error}.") from error
        # It can't be had if a sweep came upon the folder before us, and is removing it.
        lock = _locked(path)
        if lock is not None:
            return path, lock
    raise JailError(
        f"The folder for temporary files, {tempfile.gettempdir()!r}, is on a disk that knows no "
        "locks. Set TMPDIR to a folder on a local disk."
    )


def _locked(path: Path) -> int | None:
    """Lock a folder for as long as the descriptor is open, None if that can't be done.

    Also None if the folder is another user's, was removed meanwhile, or is a link.
    """
    try:
        handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except OSError:
        return None
    with contextlib.suppress(OSError):
        status = os.fstat(handle)
        if status.st_uid == os.geteuid():
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if os.path.samestat(status, os.lstat(path)):
                return handle
    os.close(handle)
    return None
