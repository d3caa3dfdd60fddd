"""Writes files so that neither a reader nor a power failure ever leaves half of one.

All text state is written by these functions. Each returns when the data is on disk, and raises
`StorageError` if that fails.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from .errors import InputError, StorageError, UnsupportedSystem
from .failpoints import failpoint


def write_atomically(
    path: Path,
    text: str | bytes | Iterable[str | bytes],
    *,
    flushed: bool = True,
    after: Callable[[], object] | None = None,
) -> None:
    """Write a whole file, or leave the old one.

    Args:
        text: The text or bytes, or pieces of either, which are never all in memory.
        flushed: Whether to flush before returning; otherwise the caller flushes later.
        after: Called when the content is on disk but has no name yet: waits for data that the file
            depends on. If it raises, the file is not written.

    Raises:
        StorageError: It cannot be written, and the old content remains. If only the folder's flush
            failed, the new content may be there already.
    """
    import tempfile

    with naming(path):
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        try:
            with os.fdopen(handle, "wb") as stream:
                os.fchmod(handle, path.stat().st_mode & 0o777 if path.exists() else 0o644)
                stream.writelines(_pieces(text))
                stream.flush()
                failpoint("files.write.before")
                if flushed:
                    os.fsync(handle)
            failpoint("files.write.flushed")
            if after is not None:
                after()
            Path(temporary).replace(path)
        except BaseException:
            with suppress(OSError):
                Path(temporary).unlink(missing_ok=True)
            raise
        failpoint("files.write.replaced")
        if flushed:
            _sync(path.parent)


def _pieces(text: str | bytes | Iterable[str | bytes]) -> Iterator[bytes]:
    for piece in (text,) if isinstance(text, str | bytes) else text:
        yield piece if isinstance(piece, bytes) else piece.encode("utf-8", "backslashreplace")


def append(path: Path, content: bytes) -> None:
    """Append to a file, which is created if missing: everything, or nothing.

    A killed process may leave a part. Only one process may append at a time: see `locked`.

    Raises:
        StorageError: It cannot be written.
    """
    with naming(path), _opened(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT) as handle:
        size = os.fstat(handle).st_size
        if size == 0:  # a file's content survives only if its name does
            _sync(path.parent)
        try:
            failpoint("files.append.before")
            _write(handle, content)
            failpoint("files.append.written")
            os.fsync(handle)
            failpoint("files.append.after")
        except BaseException:
            with suppress(OSError):
                os.ftruncate(handle, size)
            raise


def refuse_unwritable(path: Path) -> None:
    """Check that a file can be written, before the work that produces it.

    Raises:
        InputError: Its folder does not exist, or accepts no files.
    """
    import tempfile

    if not path.parent.is_dir():
        raise InputError(f"{path}: there is no folder {path.parent}. Create it first.")
    try:
        with tempfile.TemporaryFile(dir=path.parent):
            pass
    except OSError as error:
        raise InputError(
            f"{path}: cannot create a file in {path.parent}: {error.strerror}. Name another folder."
        ) from None


def truncate(path: Path, size: int) -> None:
    """Cut a file to its first `size` bytes."""
    with naming(path), _opened(path, os.O_WRONLY) as handle:
        failpoint("files.truncate.before")
        os.ftruncate(handle, size)
        os.fsync(handle)
        failpoint("files.truncate.after")


def rename(path: Path, name: Path) -> None:
    """Rename a file in its folder, and replace any file of that name."""
    with naming(path):
        failpoint("files.rename.before")
        path.replace(name)
        failpoint("files.rename.after")
        _sync(path.parent)


def remove(path: Path) -> None:
    """Remove a file, if present.

    Raises:
        StorageError: It cannot be removed.
    """
    with naming(path):
        path.unlink(missing_ok=True)


def sync(path: Path, handle: int | None = None) -> None:
    """Flush a whole file to disk, whoever wrote it.

    Args:
        handle: The file, if it is open: then it need not be opened again.
    """
    with naming(path):
        if handle is None:
            _sync(path)
        else:
            _sync_open(handle)


def make_folder(path: Path) -> None:
    """Create a folder if missing. Its parent exists."""
    with naming(path):
        path.mkdir(exist_ok=True)
        _sync(path.parent)  # also an existing one: its creator may have died before flushing


def make_folders(path: Path) -> None:
    """Create a folder and its missing parents."""
    for parent in reversed([parent for parent in path.parents if not parent.exists()]):
        make_folder(parent)
    make_folder(path)


@contextmanager
def locked(path: Path) -> Generator[None]:
    """Hold a lock that one thread of one process has at a time; wait for it if necessary.

    The system releases it when a process dies.

    Args:
        path: The lock's file. It is created if missing, stays empty, and must not be removed while
            any process may want the lock.
    """
    with naming(path):
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        with naming(path):
            lock(handle)
        yield
    finally:
        os.close(handle)


def lock(handle: int, *, wait: bool = True, shared: bool = False) -> None:
    """Lock an open file until it is closed or its process ends.

    Args:
        wait: Whether to wait for the current holder.

    Raises:
        BlockingIOError: Another process holds the lock, and `wait` is false.
        OSError: The file system has no locks.
        UnsupportedSystem: It is neither Linux nor macOS.
    """
    try:
        import fcntl
    except ModuleNotFoundError:
        raise UnsupportedSystem from None
    kind = fcntl.LOCK_SH if shared else fcntl.LOCK_EX
    fcntl.flock(handle, kind | (0 if wait else fcntl.LOCK_NB))


@contextmanager
def naming(path: Path) -> Generator[None]:
    """Add the file's name to the system's errors."""
    try:
        yield
    except StorageError:  # of another file
        raise
    except OSError as error:
        raise StorageError(error.errno, error.strerror, str(path)) from error


@contextmanager
def _opened(path: Path, flags: int) -> Generator[int]:
    handle = os.open(path, flags | os.O_CLOEXEC, 0o644)
    try:
        yield handle
    finally:
        os.close(handle)


def _write(handle: int, content: bytes) -> None:
    """Write everything: on a nearly full disk, one call writes only a part."""
    while content:
        content = content[os.write(handle, content) :]


def _sync(path: Path) -> None:
    """Flush a file; or a folder, because new names are stored there."""
    with _opened(path, os.O_RDONLY) as handle:
        _sync_open(handle)


def _sync_open(handle: int) -> None:
    failpoint("files.sync.before")
    os.fsync(handle)
    failpoint("files.sync.after")
