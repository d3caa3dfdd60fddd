"""Read a folder while hostile code may be at work in it.

Every path is walked from folder to folder by descriptors, and no link is ever followed. If code
replaces a part of the path by a link, reading fails, and never leads out of the folder.
"""

from __future__ import annotations

import errno
import itertools
import os
import stat
from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from pathlib import Path, PurePosixPath

from ...schema.values import beneath
from .tool import ToolError

LARGEST_FILE = 10 << 20
"""The most bytes of a file to read."""

MOST_ENTRIES = 50_000
DEEPEST = 50
UNSEEN = frozenset({".git"})


def split(path: str) -> tuple[str, ...]:
    """Split a path from a model into the names to walk; none for the workspace itself.

    Raises:
        ToolError: The path leads out of the workspace.
    """
    relative = PurePosixPath(path)
    if relative.is_absolute():
        raise ToolError(
            f"{path!r} starts with '/'. Paths start in the workspace, for instance 'src/main.py'."
        )
    if ".." in relative.parts:
        raise ToolError(f"{path!r} has '..' in it. Write the path from the workspace downwards.")
    return relative.parts


@contextmanager
def open_folder(root: Path, names: tuple[str, ...]) -> Generator[int]:
    """Open a folder of the workspace for a `with` block.

    Yields:
        The folder's descriptor.

    Raises:
        ToolError: The folder does not exist, or a link is on the way.
    """
    with ExitStack() as stack:
        try:  # not even the workspace itself may be a link by now
            handle = stack.enter_context(beneath.open_folder(root.parent, (root.name, *names)))
        except (OSError, ValueError) as error:
            raise _problem(error, "/".join(names) or ".", "a folder") from None
        yield handle


def read_bytes(folder: int, name: str, path: str) -> bytes:
    """Read a whole file.

    Raises:
        ToolError: It is not a regular file with a single name, it is too large, or unreadable.
    """
    try:
        with os.fdopen(beneath.open_file(folder, name), "rb") as stream:
            _check(os.fstat(stream.fileno()), path)
            content = stream.read(LARGEST_FILE + 1)
    except (OSError, ValueError) as error:
        if isinstance(error, OSError) and error.errno == errno.EINVAL:
            raise _not_regular(folder, name, path) from None
        raise _problem(error, path, "a file") from None
    if len(content) > LARGEST_FILE:
        raise ToolError(_too_large(path))
    return content


def is_file(folder: int, name: str) -> bool:
    """Return whether a name in a folder currently is a regular file."""
    try:
        return stat.S_ISREG(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode)
    except (OSError, ValueError):
        return False


class Walk:
    """One walk over the files of a folder, in order of their names.

    It yields the regular files, skips `.git` folders, and stops after `MOST_ENTRIES`.

    Attributes:
        left_out: Number of links, special files and unreadable folders so far.
        cut_short: Whether the folder has more entries than it inspects.
    """

    def __init__(self) -> None:
        self.left_out = 0
        self.cut_short = False
        self._entries = 0

    def files(self, folder: int, path: str = "", depth: int = 0) -> Generator[tuple[str, int, str]]:
        """Yield each file: its path, the descriptor of its folder while it is open, its name."""
        for name, mode in self._list_folder(folder):
            inner_path = f"{path}{name}"
            if stat.S_ISREG(mode):
                yield inner_path, folder, name
            elif stat.S_ISDIR(mode):
                yield from self._inner(folder, name, inner_path, depth)
            else:
                self.left_out += 1

    def _inner(
        self, folder: int, name: str, path: str, depth: int
    ) -> Generator[tuple[str, int, str]]:
        with ExitStack() as stack:
            try:
                inner = stack.enter_context(beneath.open_folder(folder, (name,)))
            except OSError:
                inner = None
            if inner is None or depth >= DEEPEST:
                self.left_out += 1
                return
            yield from self.files(inner, f"{path}/", depth + 1)

    def _list_folder(self, folder: int) -> list[tuple[str, int]]:
        """Return the names in a folder and their file modes, sorted."""
        pairs: list[tuple[str, int]] = []
        try:
            with os.scandir(folder) as entries:
                for entry in itertools.islice(entries, MOST_ENTRIES - self._entries):
                    if entry.name not in UNSEEN:
                        pairs.append((entry.name, _mode(entry)))
                self.cut_short |= next(entries, None) is not None
        except OSError:  # the folder was removed in the meantime
            self.left_out += 1
        self._entries += len(pairs)
        return sorted(pairs)


def printable(path: str) -> str:
    """Return a path on one line: unchanged, or quoted if characters would not show."""
    return path if path.isprintable() else ascii(path)


def _check(status: os.stat_result, path: str) -> None:
    if status.st_nlink > 1:
        # Its other name may be a host file that the agent's own code may not read.
        raise ToolError(f"{path!r} is a hard link, which is not read. Copy the file first.")
    if status.st_size > LARGEST_FILE:
        raise ToolError(_too_large(path))


def _too_large(path: str) -> str:
    return f"{path!r} has more than {LARGEST_FILE} bytes, too many to read."


def _mode(entry: os.DirEntry[str]) -> int:
    try:
        return entry.stat(follow_symlinks=False).st_mode
    except OSError:
        return 0


def _not_regular(folder: int, name: str, path: str) -> ToolError:
    if beneath.is_folder(folder, name):
        return ToolError(f"{path!r} is a folder. list_files lists its contents.")
    return ToolError(f"{path!r} is not a regular file.")


def _problem(error: OSError | ValueError, path: str, kind: str) -> ToolError:
    if isinstance(error, FileNotFoundError):
        return ToolError(f"there is no {path!r} here. list_files lists what there is.")
    if isinstance(error, ValueError):
        return ToolError(f"{path!r} is not a path: it has characters that no file has.")
    if error.errno in {errno.ELOOP, errno.ENOTDIR}:
        return ToolError(f"{path!r} is not {kind}, or is a link. Links are not followed.")
    return ToolError(f"{path!r} cannot be read: {error.strerror}.")
