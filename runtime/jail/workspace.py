"""The work folder of a jail: its owner, its size, and safe reading by the host."""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from ...schema.values.beneath import open_file, open_folder
from ...schema.values.errors import JailError

BLOCK = 512  # bytes, the unit of st_blocks
_SMALLEST = 4096  # bytes that an empty file counts as
_DEEPEST = 100  # levels of folders


def break_hard_links(folder: Path) -> None:
    """Replace each file that has another name outside of the folder by a copy of its own.

    `git clone` of a local repository links its objects, and package installers link libraries. A
    jail that may write to such a file would also change the original.

    Raises:
        JailError: the folder can't be read or copied.
    """
    names: dict[int, list[Path]] = {}
    try:
        for entry in _files(folder):
            status = entry.stat(follow_symlinks=False)
            if stat.S_ISREG(status.st_mode) and status.st_nlink > 1:
                names.setdefault(status.st_ino, []).append(Path(entry.path))
        for paths in names.values():
            if len(paths) < paths[0].lstat().st_nlink:
                _copy_in_place(paths)
    except OSError as error:
        raise JailError(f"The work folder {str(folder)!r} can't be made ready: {error}.") from error


def _files(folder: Path) -> Iterator[os.DirEntry[str]]:
    """Yield all entries below a folder that are not folders, as deep as a path can be."""
    pending = [str(folder)]
    while pending:
        try:
            entries = os.scandir(pending.pop())
        except PermissionError:  # then its user can write to nothing in it
            continue
        with entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    pending.append(entry.path)
                else:
                    yield entry


def _copy_in_place(paths: list[Path]) -> None:
    """Copy a file once and give the copy all its names: several copies could fill the disk."""
    first, *links = paths
    handle, copy = tempfile.mkstemp(dir=first.parent)
    os.close(handle)
    shutil.copy2(first, copy)
    Path(copy).replace(first)
    for link in links:
        link.unlink()
        link.hardlink_to(first)


def give(*folders: Path, uid: int, gid: int) -> None:
    """Transfer folders and their content to a user, without following links."""
    _run("chown", "-R", "-h", "-P", f"{uid}:{gid}", "--", *map(str, folders))


def disarm(folder: Path) -> None:
    """Let the owner read the whole folder, and remove set-user-ID and set-group-ID rights.

    For a folder that a jail leaves without `give`, which also removes such rights. Entries of other
    owners stay unchanged.
    """
    with contextlib.suppress(JailError):
        _run("chmod", "-R", "u+rX,ug-s", "--", str(folder))


def make_plain(folder: Path) -> None:
    """Remove entries that disturb programs: pipes, sockets, devices, inner repositories.

    Opening a pipe waits for a writer. git treats an inner repository by that repository's own
    settings, which can name programs to run.
    """
    # `find` for its depth: a tree can be deeper than Python's own walk bears.
    kinds = " -o ".join(f"-type {letter}" for letter in "psbc").split()
    _run("find", str(folder), "(", *kinds, ")", "-delete")
    inner = ("-mindepth", "2", "-name", ".git", "-prune")
    _run("find", str(folder), *inner, "-exec", "rm", "-rf", "{}", "+")


def remove(folder: Path) -> None:
    """Remove a folder in which a jail has written, however deep and whatever its modes.

    Raises:
        JailError: the folder could not be removed.
    """
    try:
        _run("rm", "-rf", "--", str(folder))
    except JailError:
        _run("chmod", "-R", "u+rwX", "--", str(folder))
        _run("rm", "-rf", "--", str(folder))


def _run(*command: str) -> None:
    """Run a system tool, which unlike Python's own functions handles a very deep tree."""
    try:
        process = subprocess.run(command, capture_output=True, check=False, text=True)
    except OSError as error:
        raise JailError(f"{command[0]!r} can't be run: {error}.") from error
    if process.returncode != 0:
        raise JailError(f"{' '.join(command)!r} failed: {process.stderr.strip()[:500]}")


@dataclass(frozen=True, slots=True)
class Size:
    """The disk usage of a folder.

    Attributes:
        whole: False if a part could not be read, or was deeper than any honest one.
    """

    bytes: int
    whole: bool

    def __add__(self, other: Size) -> Size:
        return Size(self.bytes + other.bytes, self.whole and other.whole)


def measure(folder: Path) -> Size:
    """Return a folder's disk usage, while a jail's code may be changing it.

    No link is followed, not even one that replaces a folder during the count.
    """
    return _measure(folder.parent, folder.name, 0)


def _measure(parent: Path | int, name: str, depth: int) -> Size:
    with contextlib.ExitStack() as stack:
        try:
            handle = stack.enter_context(open_folder(parent, (name,)))
        except FileNotFoundError:
            return Size(0, whole=True)
        except OSError:
            return Size(0, whole=False)
        if depth > _DEEPEST:
            return Size(0, whole=False)
        return _measure_entries(handle, depth)


def _measure_entries(handle: int, depth: int) -> Size:
    total = Size(0, whole=True)
    with os.scandir(handle) as entries:
        for entry in entries:
            try:
                status = entry.stat(follow_symlinks=False)
            except FileNotFoundError:
                continue
            except OSError:
                total += Size(0, whole=False)
                continue
            if stat.S_ISDIR(status.st_mode):
                total += Size(_SMALLEST, whole=True)
                total += _measure(handle, entry.name, depth + 1)
            else:
                size = max(status.st_blocks * BLOCK, _SMALLEST) // max(status.st_nlink, 1)
                total += Size(size, whole=True)
    return total


def read_file(folder: Path, name: str, *, limit: int) -> bytes:
    """Return the content of a file in a folder where a jail has written.

    Args:
        name: path of the file in it, with `/` between the parts.

    Raises:
        JailError: the name leads out of the folder, through a link, or not to a regular file, or
            the file is larger than the limit.
    """
    parts = PurePosixPath(name).parts
    if not parts or PurePosixPath(name).is_absolute() or ".." in parts:
        raise JailError(f"{name!r} is not the path of a file inside the work folder.")
    try:
        with open_folder(folder, parts[:-1]) as parent:
            handle = open_file(parent, parts[-1])
    except (OSError, ValueError) as error:  # including impossible file names
        raise JailError(f"{name!r} can't be read without following links: {error}.") from error
    with os.fdopen(handle, "rb") as file:
        size = os.fstat(handle).st_size
        content = file.read(limit + 1)
    if len(content) > limit:
        raise JailError(f"{name!r} has {size} bytes, more than the {limit} allowed.")
    return content
