"""The parts of the host's file system that a jail sees, and their paths there."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from .request import JailRequest

_HERE = Path(__file__).resolve().parent
# What programs under /usr need to start. Debian's awk and editors are links through alternatives.
_SYSTEM = ("/usr", "/etc/ld.so.cache", "/etc/alternatives", "/nix/store")
_MERGED = ("/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")


@dataclass(frozen=True, kw_only=True, slots=True)
class Confinement:
    """The resources of one jail.

    Attributes:
        private: a folder of this jail alone; contains `tmp`, `shm`, `passwd` and `group`.
        environment: all environment variables of its code.
        uid: the user (and group) of its code; None for the current user.
        at: the work folder's path in the jail; None for its path outside.
        placed: folders that its code may read at other paths: each path in the jail, and its path
            outside.
    """

    work: Path
    request: JailRequest
    private: Path
    environment: Mapping[str, str]
    uid: int | None
    at: Path | None = None
    placed: Mapping[Path, Path] = field(default_factory=dict[Path, Path])

    @property
    def own(self) -> Mapping[Path, Path]:
        """The host's paths of the jail's own folders, by their paths in the jail."""
        return {path: self.private / f"own-{n}" for n, path in enumerate(self.request.own)}


@dataclass(frozen=True, slots=True)
class Mount:
    """The jail sees the host's `source` as `target`."""

    source: Path
    target: Path
    writable: bool = False


def interpreter() -> Path:
    """Return the real interpreter behind this one, outside of any virtual environment."""
    # No public name gives the interpreter that created a virtual environment; venv uses this one.
    base: str = getattr(sys, "_base_executable", "") or sys.executable
    return Path(base).resolve()


def mounts(confinement: Confinement) -> list[Mount]:
    """Return the mounts of a jail, outer folders before the folders inside them."""
    private = confinement.private
    result = [
        *_read_only(_system()),
        *_read_only(_interpreter_parts()),
        *_read_only((_HERE / "_enter.py", _HERE / "code" / "_worker.py")),
        *_read_only((*confinement.request.readable, *confinement.request.host_folders)),
        *(Mount(source, target) for target, source in confinement.placed.items()),
        Mount(private / "tmp", Path("/tmp"), writable=True),  # noqa: S108 - the jail's own
        Mount(private / "shm", Path("/dev/shm"), writable=True),  # noqa: S108 - the jail's own
        Mount(private / "passwd", Path("/etc/passwd")),
        Mount(private / "group", Path("/etc/group")),
        *(Mount(source, path, writable=True) for path, source in confinement.own.items()),
        *(Mount(confinement.work, path, writable=True) for path in _names_of_work(confinement)),
    ]
    # A later mount hides an earlier one of the same target: the work folder stays writable.
    unique = {mount.target: mount for mount in result}
    return sorted(unique.values(), key=lambda mount: (len(mount.target.parts), mount.target))


def links() -> list[tuple[str, Path]]:
    """Return the symbolic links of the root folder, as (target, link)."""
    return [(str(path.readlink()), path) for path in map(Path, _MERGED) if path.is_symlink()]


def directories(bound: list[Mount]) -> list[Path]:
    """Return the folders to create as mount points, parents first."""
    targets = {mount.target for mount in bound}
    needed: dict[Path, None] = {}
    for target in (mount.target for mount in bound):
        for parent in reversed(target.parents[:-1]):
            if targets.isdisjoint((parent, *parent.parents)):
                needed[parent] = None
    return list(needed)


def _names_of_work(confinement: Confinement) -> Iterator[Path]:
    yield confinement.at or confinement.work
    if confinement.request.alias is not None:
        yield confinement.request.alias


def _read_only(paths: Iterable[Path]) -> list[Mount]:
    return [Mount(path.resolve(), target) for path in paths for target in (path, path.resolve())]


def _system() -> Iterator[Path]:
    yield from (path for path in map(Path, _SYSTEM) if path.exists())
    yield from (path for path in map(Path, _MERGED) if path.is_dir() and not path.is_symlink())


def _interpreter_parts() -> Iterator[Path]:
    """Yield the program and library folders of the interpreter, but nothing beside them."""
    for prefix in {Path(sys.base_prefix), Path(sys.base_exec_prefix), interpreter().parent.parent}:
        for name in ("bin", "lib", "lib64"):
            part = prefix / name
            if part.is_dir() and not part.is_relative_to("/usr"):
                yield part
