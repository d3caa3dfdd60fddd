"""Synchronize a folder between machines: its entries by digest, and changes to a copy.

What a jail leaves is as untrusted as its code. So nothing here follows a link, opens anything but
regular files, or trusts a name. Pipes, sockets and devices stay behind, and set-user-ID rights are
never copied.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

from ...schema.values.beneath import is_folder, new_file, open_file, open_folder, parent_of, remove
from ...schema.values.errors import JailError

SMALLEST = 4096
"""The least bytes that each entry counts as."""
DEEPEST = 100
"""The most levels of folders: more than any honest tree has."""
_KINDS = ("folder", "file", "link", "same")


class Overgrown(JailError):
    """A folder is deeper or larger than a transfer allows."""


@dataclass(frozen=True, slots=True)
class TreeEntry:
    """The entry at one path of a folder.

    Attributes:
        kind: `folder`, `file`, `link` (a symbolic one), or `same`: a further name of a file.
        mode: The rights of a folder or file; never to write for others, nor to run as its owner.
        mtime: When a file was written, in nanoseconds, because builds and caches rely on it.
        value: The SHA-256 of a file, the target of a link, or the first name of the same file.
    """

    kind: str
    mode: int = 0
    mtime: int = 0
    value: str = ""
    size: int = 0


@dataclass(frozen=True, slots=True)
class FoundEntry:
    """An entry with a stamp that shows later changes.

    Attributes:
        stamp: Inode, size and times; no program can write to a file and preserve them all.
    """

    entry: TreeEntry
    stamp: tuple[int, ...] = ()


NOTHING: Mapping[str, FoundEntry] = MappingProxyType({})


def entries(scanned: Mapping[str, FoundEntry]) -> dict[str, TreeEntry]:
    """Return the entries without their stamps."""
    return {name: entry.entry for name, entry in scanned.items()}


def scan(
    root: Path,
    *,
    before: Mapping[str, FoundEntry] = NOTHING,
    largest: int | None = None,
    live: bool = False,
) -> dict[str, FoundEntry]:
    """Return all entries of a folder, by relative path, each folder before its content.

    Args:
        before: The result of a scan while nothing was at work in the folder; unchanged files are
            not read again.
        largest: The most bytes of the whole folder, each entry counted as `SMALLEST` at least.
        live: Whether something is at work in it: entries that vanish or cannot be read are then
            left out.

    Raises:
        Overgrown: The folder is deeper than `DEEPEST`, or larger than `largest`.
        JailError: The folder cannot be read.
    """
    result = _Scan(before=before, largest=largest, live=live)
    try:
        with open_folder(root.parent, (root.name,)) as handle:  # nor may the root be a link
            result.look_into(handle, "", 0)
    except OSError as error:
        raise JailError(f"The work folder {str(root)!r} can't be read: {error}.") from error
    return result.entries


@dataclass(kw_only=True, eq=False)
class _Scan:
    """A scan in progress."""

    before: Mapping[str, FoundEntry]
    largest: int | None
    live: bool
    entries: dict[str, FoundEntry] = field(default_factory=dict[str, FoundEntry])
    names: dict[tuple[int, int], str] = field(default_factory=dict[tuple[int, int], str])
    bytes: int = 0

    def look_into(self, folder: int, prefix: str, depth: int) -> None:
        """Add the entries of an open folder."""
        if depth > DEEPEST:
            raise Overgrown(f"The work folder is deeper than {DEEPEST} folders.")
        with os.scandir(folder) as listed:
            names = sorted(entry.name for entry in listed)
        for name in names:
            try:
                self._take(folder, name, prefix + name, depth)
            except OSError:
                if not self.live:
                    raise

    def _take(self, folder: int, name: str, path: str, depth: int) -> None:
        status = os.stat(name, dir_fd=folder, follow_symlinks=False)
        if stat.S_ISDIR(status.st_mode):
            self._keep(path, FoundEntry(TreeEntry("folder", mode=status.st_mode & 0o755 | 0o700)))
            with open_folder(folder, (name,)) as inner:
                self.look_into(inner, f"{path}/", depth + 1)
        elif stat.S_ISLNK(status.st_mode):
            self._keep(path, FoundEntry(TreeEntry("link", value=os.readlink(name, dir_fd=folder))))
        elif stat.S_ISREG(status.st_mode):
            self._take_file(folder, name, path, status)

    def _take_file(self, folder: int, name: str, path: str, status: os.stat_result) -> None:
        inode = (status.st_dev, status.st_ino)
        if status.st_nlink > 1 and inode in self.names:
            self._keep(path, FoundEntry(TreeEntry("same", value=self.names[inode])))
            return
        stamp = _stamp(status)
        found_entry = self.before.get(path)
        if found_entry is None or found_entry.stamp != stamp:
            self._count(status.st_size)  # before it is read
            found_entry = _read(folder, name)
        else:
            self._count(found_entry.entry.size)
        self._keep(path, found_entry)
        if status.st_nlink > 1:
            self.names[inode] = path

    def _keep(self, path: str, entry: FoundEntry) -> None:
        self._count(SMALLEST)
        self.entries[path] = entry

    def _count(self, size: int) -> None:
        self.bytes += size
        if self.largest is not None and self.bytes > self.largest:
            raise Overgrown(f"What is in the work folder has more than {self.largest} bytes.")


def stamped(root: Path, tree: Mapping[str, TreeEntry]) -> dict[str, FoundEntry]:
    """Return a fresh copy's entries with their stamps, for later scans to compare with.

    Args:
        root: The copy, in which nothing is at work yet.

    Raises:
        JailError: The copy cannot be inspected.
    """
    try:
        return {
            name: FoundEntry(entry, _stamp(os.lstat(root / name)) if entry.kind == "file" else ())
            for name, entry in tree.items()
        }
    except OSError as error:
        raise JailError(f"The work folder {str(root)!r} can't be read: {error}.") from error


def _stamp(status: os.stat_result) -> tuple[int, ...]:
    return (status.st_ino, status.st_size, status.st_mode, status.st_mtime_ns, status.st_ctime_ns)


def _read(folder: int, name: str) -> FoundEntry:
    with os.fdopen(open_file(folder, name), "rb") as file:
        status = os.fstat(file.fileno())
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    mode = status.st_mode & 0o755 | 0o600
    entry = TreeEntry(
        "file", mode=mode, mtime=status.st_mtime_ns, value=digest, size=status.st_size
    )
    return FoundEntry(entry, _stamp(status))


@dataclass(frozen=True, kw_only=True, slots=True)
class TreeChange:
    """The difference between two states of a folder, to apply to a copy.

    Attributes:
        removed: Removed paths; for a folder, only its own.
        created: New or changed entries, each folder before its content.
        same_content: Those of `created` whose content the copy has at the same path.
    """

    removed: tuple[str, ...] = ()
    created: Mapping[str, TreeEntry] = field(default_factory=dict[str, TreeEntry])
    same_content: frozenset[str] = frozenset()

    @property
    def wanted(self) -> list[str]:
        """The paths of `created` whose content must be transferred."""
        return [
            n
            for n, entry in self.created.items()
            if entry.kind == "file" and n not in self.same_content
        ]

    @property
    def size(self) -> int:
        """Bytes of that content."""
        return sum(self.created[name].size for name in self.wanted)


def change(before: Mapping[str, TreeEntry], after: Mapping[str, TreeEntry]) -> TreeChange:
    """Return the difference between two states of a folder."""
    missing = [name for name in before if name not in after]
    outer = set(missing)
    removed = [name for name in missing if name.rpartition("/")[0] not in outer]
    fields = {name: entry for name, entry in after.items() if before.get(name) != entry}
    same_content = {
        name for name, entry in fields.items() if _same_content(before.get(name), entry)
    }
    # A rewritten file is a new inode in the copy: its further names must follow.
    rewritten = {
        name for name, entry in fields.items() if entry.kind == "file" and name not in same_content
    }
    further = {
        name: entry
        for name, entry in after.items()
        if entry.kind == "same" and entry.value in rewritten
    }
    ordered = {name: entry for name, entry in after.items() if name in fields or name in further}
    return TreeChange(removed=tuple(removed), created=ordered, same_content=frozenset(same_content))


def _same_content(before: TreeEntry | None, after: TreeEntry) -> bool:
    return before is not None and before.kind == after.kind == "file" and (
        before.value == after.value
    )  # fmt: skip


def read_content(root: Path, name: str, offset: int, length: int) -> bytes:
    """Read a piece of a file, following no link.

    Raises:
        JailError: The file does not exist.
    """
    try:
        with (
            parent_of(root, name) as (folder, last),
            os.fdopen(open_file(folder, last), "rb") as file,
        ):
            return os.pread(file.fileno(), length, offset)
    except (OSError, ValueError) as error:
        raise JailError(f"{name!r} in the work folder can't be read: {error}.") from error


def rebuild(
    root: Path, change: TreeChange, content: Callable[[str, TreeEntry], Iterable[bytes]]
) -> None:
    """Apply a folder's changes to a copy of it.

    Args:
        root: The copy, in which nothing else is at work.
        content: Returns the bytes of a file, in pieces.

    Raises:
        JailError: The copy cannot be written, or a path leads out of it.
    """
    try:
        for name in change.removed:
            with parent_of(root, name) as (folder, last):
                remove(folder, last)
        wanted = set(change.wanted)
        for name, entry in change.created.items():
            with parent_of(root, name) as (folder, last):
                pieces = content(name, entry) if name in wanted else None
                _Place(root, folder, last).becomes(entry, pieces)
    except (OSError, ValueError) as error:
        raise JailError(f"The work folder {str(root)!r} can't be written: {error}.") from error


@dataclass(frozen=True, slots=True)
class _Place:
    """A path in a copy: the open folder that contains it, and its last part."""

    root: Path
    folder: int
    name: str

    def becomes(self, entry: TreeEntry, content: Iterable[bytes] | None) -> None:
        match entry.kind:
            case "folder":
                self._folder(entry)
            case "file":
                self._file(entry, content)
            case "link":
                remove(self.folder, self.name)
                os.symlink(entry.value, self.name, dir_fd=self.folder)
            case "same":
                remove(self.folder, self.name)
                self._further_name(entry)
            case _:
                raise ValueError(f"{entry.kind!r} is none of {', '.join(_KINDS)}")

    def _folder(self, entry: TreeEntry) -> None:
        if not is_folder(self.folder, self.name):
            remove(self.folder, self.name)
            os.mkdir(self.name, 0o700, dir_fd=self.folder)
        with open_folder(self.folder, (self.name,)) as handle:
            os.fchmod(handle, entry.mode & 0o755 | 0o700)

    def _file(self, entry: TreeEntry, content: Iterable[bytes] | None) -> None:
        if content is None:
            handle = open_file(self.folder, self.name)
        else:
            remove(self.folder, self.name)
            handle = new_file(self.folder, self.name, 0o600)
        with open(handle, "rb" if content is None else "wb", buffering=0) as file:
            for piece in content or ():
                _write(file.fileno(), piece)
            os.fchmod(handle, entry.mode & 0o755 | 0o600)
            os.utime(handle, ns=(entry.mtime, entry.mtime))

    def _further_name(self, entry: TreeEntry) -> None:
        with parent_of(self.root, entry.value) as (folder, first):
            os.link(
                first, self.name, src_dir_fd=folder, dst_dir_fd=self.folder, follow_symlinks=False
            )


def _write(handle: int, piece: bytes) -> None:
    left = memoryview(piece)
    while left:
        left = left[os.write(handle, left) :]
