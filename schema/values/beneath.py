"""Safe access to folders written by others: repositories, runs, pools, prompts, agents' output.

Every path is walked from folder to folder by descriptors, and no link is ever followed, not even
one that replaces a folder during the walk: a path leads to an entry beneath the root, or nowhere.
Only regular files are opened; pipes, sockets and devices count as absent.

Where people may link files of one folder to each other, `open_linked` resolves the links itself,
walks on beneath the root, and refuses links that lead out of it.
"""

from __future__ import annotations

import errno
import itertools
import os
import shutil
import stat
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, NamedTuple

FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
"""The flags that open a folder."""
FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
"""The flags that open a file. Without O_NONBLOCK, a pipe without a writer would block for ever."""

_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
CHUNK = 1 << 20
MOST_LINKS = 40
"""The maximum number of links on a path, as in the kernel."""
_COPY = "put a copy of the file in its place"


class PathEntry(NamedTuple):
    """The entry at a path.

    Attributes:
        path: The path from the root, with `/` between its parts.
        kind: `file`, `folder`, `link`, or `other`: a pipe, a socket, a device.
    """

    path: str
    kind: str


def names_of(path: str) -> Sequence[str]:
    """Split a path into the names to walk.

    Raises:
        ValueError: The path does not lead beneath a root: `..`, `/etc`, `a//b`.
    """
    names = path.split("/")
    if any(name in {"", ".", ".."} or "\0" in name for name in names):
        raise ValueError(f"{path!r} is not the path of something inside the folder")
    return names


@contextmanager
def open_folder(
    root: Path | int, names: Sequence[str] = (), *, make: bool = False
) -> Generator[int]:
    """Open a folder beneath a root for a `with` block.

    Args:
        root: The root, which the caller chooses, so it may be a link; or the descriptor of an open
            one.
        make: Whether to create missing folders.

    Yields:
        Its descriptor.
    """
    handle = os.dup(root) if isinstance(root, int) else os.open(root, FOLDER & ~os.O_NOFOLLOW)
    try:
        for name in names:
            if make:
                with suppress(FileExistsError):
                    os.mkdir(name, 0o755, dir_fd=handle)
            inner = os.open(name, FOLDER, dir_fd=handle)
            os.close(handle)
            handle = inner
        yield handle
    finally:
        os.close(handle)


@contextmanager
def parent_of(root: Path | int, path: str, *, make: bool = False) -> Generator[tuple[int, str]]:
    """Open the parent folder of a path for a `with` block, and yield it with the path's last name.

    Args:
        make: Whether to create missing folders.
    """
    *outer, last = names_of(path)
    with open_folder(root, outer, make=make) as folder:
        yield folder, last


def open_file(folder: int, name: str) -> int:
    """Open a regular file in an open folder for reading.

    Raises:
        OSError: There is no regular file of this name.
    """
    handle = os.open(name, FILE, dir_fd=folder)
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise OSError(errno.EINVAL, "not a regular file", name)
    return handle


def new_file(folder: int, name: str, mode: int = 0o644) -> int:
    """Create a file in an open folder, and open it for writing."""
    return os.open(name, _NEW, mode, dir_fd=folder)


def open_linked(root: Path, path: str) -> IO[bytes]:
    """Open a regular file for reading; links on its path must stay beneath the root.

    Args:
        root: The root, which the caller chooses, so it may be a link.

    Raises:
        FileNotFoundError: There is no such file.
        OSError: It is no regular file, or a link leads out of the root; the text says so.
    """
    try:
        with parent_of(root, settled(root, path)) as (folder, name):
            handle = open_file(folder, name)
    except ValueError:  # the path is the root itself
        raise OSError(errno.EISDIR, "it is not a file") from None
    except OSError as error:
        if error.errno in {errno.EINVAL, errno.ENXIO}:
            raise OSError(errno.EINVAL, "it is not a file") from None
        raise
    if os.fstat(handle).st_nlink > 1 and not _is_installed(root):
        os.close(handle)
        text = f"it is a hard link, and its other name may be a private file; {_COPY}"
        raise OSError(errno.EMLINK, text)
    return os.fdopen(handle, "rb")


def names_in(root: Path, path: str) -> list[str]:
    """List the names in a folder, sorted; links on its path must stay beneath the root."""
    real = settled(root, path)
    names = real.split("/") if real else ()
    with open_folder(root, names) as folder, os.scandir(folder) as entries:
        return sorted(entry.name for entry in entries)


def _is_installed(root: Path) -> bool:
    """Return whether a root belongs to a package: installers hard-link their files to a cache."""
    import sysconfig

    real = root.resolve()
    packages = (sysconfig.get_path("purelib"), sysconfig.get_path("platlib"))
    return any(real.is_relative_to(Path(package).resolve()) for package in (*packages, _OWN))


_OWN = Path(__file__).parents[2]


def settled(root: Path, path: str) -> str:
    """Return a path beneath a root with its links resolved.

    Nothing outside the root is read. A link is resolved from the folder that it is really in, so
    `..` means the same folder as for the kernel.

    Raises:
        FileNotFoundError: The path does not exist.
        OSError: A link leads out of the root, to itself or nowhere; the text says so.
    """
    pending, names, links = path.split("/")[::-1], list[str](), 0
    while pending:
        name = pending.pop()
        if name in {"", "."}:
            continue
        if name == "..":
            if not names:
                raise _leads_out()
            names.pop()
            continue
        target = _target(root, names, name, after_link=links > 0)
        if target is None:
            names.append(name)
            continue
        links += 1
        if links > MOST_LINKS:
            raise OSError(errno.ELOOP, "it is a link that leads to itself")
        if target.startswith("/"):
            target, names = _from_root(root, target), []
        pending += target.split("/")[::-1]
    return "/".join(names)


def _target(root: Path, names: Sequence[str], name: str, *, after_link: bool) -> str | None:
    """Return the target of a link; None if the entry is no link."""
    try:
        with open_folder(root, names) as folder:
            return os.readlink(name, dir_fd=folder)
    except FileNotFoundError:
        if after_link:
            raise OSError(errno.ELOOP, "it is a link that leads nowhere") from None
        raise
    except OSError as error:
        if error.errno == errno.EINVAL:
            return None
        raise


def _from_root(root: Path, target: str) -> str:
    for start in map(str, (root.resolve(), root.absolute())):
        if target.startswith(f"{start.rstrip('/')}/"):
            return target[len(start) :]
    raise _leads_out()


def _leads_out() -> OSError:
    return OSError(errno.ELOOP, f"it is a link that leads out of its folder; {_COPY}")


def read(root: Path | int, path: str, limit: int) -> bytes:
    """Read a file beneath a root.

    Raises:
        OSError: There is no such regular file, or its path has a link.
        ValueError: The path leads out of the root, or the file is larger than the limit.
    """
    with parent_of(root, path) as (folder, name), open(open_file(folder, name), "rb") as file:
        content = file.read(limit + 1)
    if len(content) > limit:
        raise ValueError(f"{path!r} has more than {limit} bytes")
    return content


def write(root: Path | int, path: str, content: bytes, mode: int = 0o644) -> None:
    """Write a new file beneath a root, and create missing folders."""
    with (
        parent_of(root, path, make=True) as (folder, name),
        os.fdopen(new_file(folder, name, mode), "wb") as file,
    ):
        file.write(content)


def make_folder(root: Path | int, path: str) -> None:
    """Create a folder beneath a root, and its missing parents."""
    with open_folder(root, names_of(path), make=True):
        pass


def copy(source: Path | int, path: str, target: Path | int) -> int | None:
    """Copy the entry at a path beneath one root to the same path beneath another.

    A link is copied as a link. A file keeps its modification time and its mode, except for
    set-user-id and similar bits.

    Args:
        target: The root to copy to, where the path must not exist.

    Returns:
        The number of bytes; None if the entry is neither a regular file nor a link, or its path has
        a link.

    Raises:
        OSError: It cannot be written.
        ValueError: The path leads out of the roots.
    """
    try:
        with parent_of(source, path) as (folder, name):
            status = os.stat(name, dir_fd=folder, follow_symlinks=False)
            if stat.S_ISLNK(status.st_mode):
                text = os.readlink(name, dir_fd=folder)
                with parent_of(target, path, make=True) as (place, _):
                    os.symlink(text, name, dir_fd=place)
                return len(text)
            handle = open_file(folder, name)
    except OSError as error:
        if error.errno in {errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.EINVAL, errno.ENXIO}:
            return None
        raise
    mode = status.st_mode & 0o755 | 0o600
    with (
        os.fdopen(handle, "rb") as file,
        parent_of(target, path, make=True) as (place, name),
        os.fdopen(new_file(place, name, mode), "wb") as new,
    ):
        shutil.copyfileobj(file, new, CHUNK)
        new.flush()
        os.utime(new.fileno(), ns=(status.st_mtime_ns, status.st_mtime_ns))
        return new.tell()


def copy_tree(source: Path, target: Path) -> None:
    """Copy a folder with all regular files and links in it to a new path."""
    target.mkdir()
    with open_folder(source) as old, open_folder(target) as new:
        for node in walk(old):
            if node.kind == "folder":
                os.mkdir(node.path, dir_fd=new)
            else:
                copy(old, node.path, new)


def walk(root: Path | int, *, most: int | None = None, without: str = "") -> Iterator[PathEntry]:
    """Yield all entries beneath a root by name, each folder before its entries.

    Args:
        most: The maximum number of entries.
        without: The name of folders to skip.

    Raises:
        OSError: A folder cannot be read, or there are more than `most` entries.
    """
    pending, counter = [""], itertools.count(1)
    while pending:
        prefix = pending.pop()
        names = prefix.split("/")[:-1]
        with open_folder(root, names) as folder, os.scandir(folder) as entries:
            listed = sorted((entry.name, _kind(entry)) for entry in entries)
        inner: list[str] = []
        for name, kind in listed:
            if most is not None and next(counter) > most:
                raise OSError(errno.E2BIG, f"there are more than {most} entries")
            if kind == "folder" and name == without:
                continue
            yield PathEntry(prefix + name, kind)
            if kind == "folder":
                inner.append(f"{prefix}{name}/")
        pending += reversed(inner)


def _kind(entry: os.DirEntry[str]) -> str:
    if entry.is_symlink():
        return "link"
    if entry.is_dir(follow_symlinks=False):
        return "folder"
    return "file" if entry.is_file(follow_symlinks=False) else "other"


def is_folder(folder: int, name: str) -> bool:
    """Return whether a name in an open folder is a folder, not a link to one."""
    try:
        return stat.S_ISDIR(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode)
    except FileNotFoundError:
        return False


def remove(folder: int, name: str) -> None:
    """Remove an entry of an open folder, if present, with everything in it.

    Raises:
        OSError: It cannot be removed.
    """
    if is_folder(folder, name):
        shutil.rmtree(name, dir_fd=folder)
        return
    with suppress(FileNotFoundError):
        os.unlink(name, dir_fd=folder)
