"""Writing files so that a reader, or a power failure, never finds half of one.

All state that is text is written by these functions. Each returns once the disk has what it was
given, and raises `StorageError` where that cannot be had.
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
    """Write a file whole, or leave what was there.

    Args:
        text: The text or bytes, or pieces of either, which are never all in memory.
        flushed: Whether it is on disk when this returns; else who calls flushes it later.
        after: Called when the disk has its content, ahead of its name: waits for what it follows
            from. What this raises is raised, and the file is not there.

    Raises:
        StorageError: It cannot be written; the old content still stands. Only when its folder
            cannot be flushed may the new one stand already.
    """
    import tempfile

    with _named(path):
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
    """Write at the end of a file, which is made if need be: everything, or nothing stays.

    A process that is killed meanwhile may leave a part. One process at a time may do this: see
    `locked`.

    Raises:
        StorageError: It cannot be written.
    """
    with _named(path), _opened(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT) as handle:
        size = os.fstat(handle).st_size
        if size == 0:  # what stands in a file can only last where its name does
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
    """Make sure that a file can be written, ahead of the work that it is for.

    Raises:
        InputError: Its folder does not exist, or takes no files.
    """
    import tempfile

    if not path.parent.is_dir():
        raise InputError(f"{path}: there is no folder {path.parent}. Create it first.")
    try:
        with tempfile.TemporaryFile(dir=path.parent):
            pass
    except OSError as error:
        raise InputError(
            f"{path}: no file can be made in {path.parent}: {error.strerror}. Name another folder."
        ) from None


def truncate(path: Path, size: int) -> None:
    """Cut a file down to its first `size` bytes."""
    with _named(path), _opened(path, os.O_WRONLY) as handle:
        failpoint("files.truncate.before")
        os.ftruncate(handle, size)
        os.fsync(handle)
        failpoint("files.truncate.after")


def rename(path: Path, name: Path) -> None:
    """Give a file another name in its folder, in place of whatever was called so."""
    with _named(path):
        failpoint("files.rename.before")
        path.replace(name)
        failpoint("files.rename.after")
        _sync(path.parent)


def remove(path: Path) -> None:
    """Remove a file, if it is there.

    Raises:
        StorageError: It cannot be removed.
    """
    with _named(path):
        path.unlink(missing_ok=True)


def sync(path: Path) -> None:
    """Wait until the disk has all of a file, whoever wrote it."""
    with _named(path):
        _sync(path)


def make_folder(path: Path) -> None:
    """Make a folder where it is missing, and its name last. What it stands in exists."""
    with _named(path):
        path.mkdir(exist_ok=True)
        _sync(path.parent)  # also where it was there: who made it may have died since


def make_folders(path: Path) -> None:
    """Make a folder, and all those that it stands in and that are missing."""
    for parent in reversed([parent for parent in path.parents if not parent.exists()]):
        make_folder(parent)
    make_folder(path)


@contextmanager
def locked(path: Path) -> Generator[None]:
    """Hold a lock that one thread of one process has at a time, and wait for it if need be.

    The system takes it back from a process that dies.

    Args:
        path: The file of the lock. It is made if need be, stays empty, and must not be removed
            while anyone may want the lock.
    """
    with _named(path):
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        with _named(path):
            lock(handle)
        yield
    finally:
        os.close(handle)


def lock(handle: int, *, wait: bool = True, shared: bool = False) -> None:
    """Lock what is open, until it is closed or its process ends.

    Args:
        wait: Whether to wait for who else has the lock.
        shared: Whether others may have it at the same time who share it, too.

    Raises:
        BlockingIOError: Somebody else has it, and is not waited for.
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
def _named(path: Path) -> Generator[None]:
    """Say of which file the system's errors are."""
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
    """Write all of it: on a disk that is nearly full, one call takes only a part."""
    while content:
        content = content[os.write(handle, content) :]


def _sync(path: Path) -> None:
    """Flush a file; or a folder, since a new name is in the folder, which is written on its own."""
    with _opened(path, os.O_RDONLY) as handle:
        failpoint("files.sync.before")
        os.fsync(handle)
        failpoint("files.sync.after")
