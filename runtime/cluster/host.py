"""The jails of one worker, and all requests that the driver may send about them.

Values and errors are pickled unchanged: `greet` has checked that both have the same software.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import hashlib
import os
import platform
import re
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any, TypeVar

from ...schema.values.errors import JailError
from ..jail.detect import detect
from ..jail.jail import Jail
from ..jail.jails import DISK, DiskShare
from ..jail.layout import interpreter
from ..jail.process import JailKilled
from ..jail.request import JailRequest
from ..jail.scratch import ScratchFolder, sweep
from ..jail.tree import (
    SMALLEST,
    FoundEntry,
    TreeChange,
    TreeEntry,
    change,
    entries,
    read_content,
    rebuild,
    scan,
    stamped,
)
from .contents import Contents
from .hosted import HostedProcess, News

T = TypeVar("T")
Tree = Mapping[str, TreeEntry]
Changed = tuple[TreeChange, list[bytes] | None]
"""The changes in a work folder, and the changed files' contents in the same order; None if these
are too large together, and must be requested separately."""

END_SECONDS = 10.0
ALONG = 4 << 20
"""The most bytes of files in one request or answer."""
CONTENTS = 2 << 30
"""Bytes of files that a worker keeps for the next jail."""
_HARMLESS = re.compile(
    r"PATH|HOME|USER|SHELL|TERM|LANG|LC_\w+|TZ|TMPDIR|VIRTUAL_ENV|PYTHON\w+|LD_LIBRARY_PATH|RAY_\w+"
)


def harmless(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the environment variables for a worker, without any possible secret of the host."""
    return {name: text for name, text in environment.items() if _HARMLESS.fullmatch(name)}


def same_everywhere() -> dict[str, str]:
    """Return the properties of this machine that the driver and all workers must share."""
    return {
        "coterie": version("coterie"),
        "where coterie is installed": str(Path(__file__).resolve().parent),
        "the interpreter": str(interpreter()),
        "Python": platform.python_version(),
    }


@dataclass(kw_only=True, eq=False)
class _Hosted:
    """A jail of this worker.

    Attributes:
        folder: Contains its work folder and its other transferred folders.
        start: The entries of the work folder before any code ran in it.
        there: The state of the work folder that the driver has.
        is_at_rest: Whether no code runs in it any more.
    """

    jail: Jail
    folder: ScratchFolder
    start: Mapping[str, FoundEntry]
    there: Tree
    largest: int
    started: int = 0
    processes: dict[int, HostedProcess] = field(default_factory=dict[int, HostedProcess])
    is_at_rest: bool = False

    def read(self, name: str, offset: int, length: int) -> bytes:
        """Read a piece of a file; empty if running code has removed the file meanwhile."""
        try:
            return read_content(self.jail.work, name, offset, length)
        except JailError:
            if self.is_at_rest:
                raise
            return b""


class JailWorker:
    """Hosts jails. Created on a worker; the driver calls its methods.

    Args:
        disk: Bytes by which the files of all jails here may grow together.
        contents: Bytes of files to keep for the next jail.
    """

    def __init__(self, disk: int = DISK, contents: int = CONTENTS) -> None:
        self._share = DiskShare(disk)
        self._most_contents = contents
        self._jails: dict[str, _Hosted] = {}
        self._scratch: ScratchFolder | None = None
        self._contents: Contents | None = None
        self._threads = ThreadPoolExecutor(64, thread_name_prefix="host")
        self._ends = ThreadPoolExecutor(4096, thread_name_prefix="host-end")

    async def greet(self, driver: dict[str, str]) -> dict[str, Any]:
        """Prepare the worker, and describe how code is confined here.

        Args:
            driver: The result of `same_everywhere` on the driver.

        Returns:
            `refused`: why no jails are available here, None if they are; `tier`, `version`,
            `kernel`, `host`, and `pid`: this process there.
        """
        return await self._apart(self._greeted, driver)

    def _greeted(self, driver: dict[str, str]) -> dict[str, Any]:
        unwanted = os.environ.keys() - harmless(os.environ).keys()
        for name in unwanted:
            del os.environ[name]
        sweep()
        report = detect()
        tier, refused = report.tier, None
        different = [
            f"{name} is {driver.get(name)!r} for the driver and {here!r} here"
            for name, here in same_everywhere().items()
            if here != driver.get(name)
        ]
        if tier is None:
            refused = str(report)
        elif not tier.has_mounts:
            refused = (
                f"its jail, {tier.name}, cannot mount folders. Install bubblewrap there, and allow"
                " it user namespaces"
            )
        elif different:
            refused = f"it has other software: {'; '.join(different)}"
        elif self._scratch is None:
            self._scratch = ScratchFolder("host")
            self._contents = Contents(self._scratch.path / "contents", self._most_contents)
        return {
            "refused": refused,
            "tier": tier and tier.name,
            "version": report.version,
            "kernel": platform.release(),
            "host": platform.node(),
            "pid": os.getpid(),
        }

    async def keep(self, name: str, pieces: Sequence[tuple[str, bytes, bool]]) -> None:
        """Store contents of files for a later jail.

        Args:
            pieces: Pieces of contents, each with the digest of the whole and whether it is the last
                one.
        """

        def keep_pieces() -> None:
            for digest, piece, last in pieces:
                self._cache.keep(name, digest, piece, last=last)

        await self._apart(keep_pieces)

    async def open(
        self, name: str, work: Path, request: JailRequest, folders: Mapping[Path, Tree]
    ) -> list[str]:
        """Open a jail.

        Args:
            work: The path of its work folder on the driver.
            folders: The entries of the work folder and of the other folders, by their paths there.

        Returns:
            Digests of contents that must be sent first. If there are any, no jail is open.
        """
        return await self._apart(self._opened, name, work, request, folders)

    def _opened(
        self, name: str, work: Path, request: JailRequest, folders: Mapping[Path, Tree]
    ) -> list[str]:
        for path in request.readable:
            if not os.path.lexists(path):
                raise JailError(
                    f"The worker {platform.node()} has no {path}. Software must be installed at"
                    " the same path on each node of the cluster."
                )
        digests = [e.value for tree in folders.values() for e in tree.values() if e.kind == "file"]
        # Held until the jail is open: another opening jail must not evict what this one needs.
        with self._cache.held(digests) as missing:
            if not missing:
                folder = ScratchFolder("remote", passable=True)
                try:
                    self._jails[name] = self._host_jail(folder, work, request, folders)
                except BaseException:
                    folder.close()
                    raise
        return missing

    def _host_jail(
        self,
        folder: ScratchFolder,
        work: Path,
        request: JailRequest,
        folders: Mapping[Path, Tree],
    ) -> _Hosted:
        placed = {
            path: self._copy(folder.path / str(number), tree)
            for number, (path, tree) in enumerate(folders.items())
        }
        here, tree, tier = placed.pop(work), folders[work], detect().tier
        assert tier is not None  # noqa: S101 - this worker has refused otherwise
        wanted = replace(request, host_folders=())  # they are placed
        jail = Jail(here, wanted, tier=tier, share=self._share, at=work, placed=placed)
        size = sum(SMALLEST + entry.size for entry in tree.values())
        return _Hosted(
            jail=jail,
            folder=folder,
            start=stamped(here, tree),
            there=tree,
            largest=size + request.limits.disk,
        )

    def _copy(self, folder: Path, tree: Tree) -> Path:
        folder.mkdir()
        contents = self._cache
        rebuild(folder, TreeChange(created=tree), lambda _name, entry: contents.pieces(entry.value))
        return folder

    async def start(
        self, name: str, command: Sequence[str], folder: Path, *, stdin: int, stderr: int
    ) -> int:
        """Start a command, as `Jail.start` does, and return its number."""
        start = self._hosted(name).jail.start
        process = await self._apart(start, command, folder=folder, stdin=stdin, stderr=stderr)
        try:
            hosted = self._hosted(name)
        except JailKilled:  # it was closed meanwhile
            await self._apart(process.close)
            raise
        hosted.started += 1
        number = hosted.started

        def ended() -> None:
            hosted.processes.pop(number, None)
            self._threads.submit(process.close)

        hosted.processes[number] = HostedProcess(process, self._ends, ended)
        return number

    async def news(self, name: str, number: int) -> News:
        """Wait for a command's news; see `HostedProcess.news`."""
        process = self._process(name, number)
        return ([], None, None, True) if process is None else await process.news()

    async def write(self, name: str, number: int, data: bytes) -> bool:
        """Write to a command's input; see `HostedProcess.write`."""
        process = self._process(name, number)
        return process is not None and await process.write(data)

    async def end(self, name: str, number: int, reason: str) -> tuple[str | None, int | None]:
        """End a command and all its descendants; return why it was ended, and its exit code."""
        process = self._process(name, number)
        if process is None:
            return None, None

        def ended() -> tuple[str | None, int | None]:
            process.process.kill(reason)
            return process.process.stopped, process.process.wait(END_SECONDS)

        return await self._apart(ended)

    async def kill(self, name: str, reason: str) -> None:
        """End all processes of a jail, for good."""
        hosted = self._jails.get(name)
        if hosted is not None:
            await self._apart(hosted.jail.kill, reason)

    async def refresh(self, name: str) -> Changed:
        """Return the changes in a work folder while code may be running in it."""
        return await self._apart(self._changed, self._hosted(name))

    async def close(self, name: str, returns: bool) -> Changed | None:
        """Close a jail; return the changes in its work folder, if the driver wants them."""
        hosted, result = self._hosted(name), None

        def closed() -> Changed | None:
            hosted.jail.close()
            hosted.is_at_rest = True
            return self._changed(hosted) if returns else None

        try:
            result = await self._apart(closed)
        finally:
            if result is None or result[1] is not None:
                await self.forget(name)
        return result

    async def piece(self, name: str, path: str, offset: int, length: int) -> bytes:
        """Return a piece of a file of a work folder."""
        return await self._apart(self._hosted(name).read, path, offset, length)

    async def read_file(self, name: str, path: str, limit: int) -> bytes:
        """Return the content of a file in a work folder; see `Jail.read_file`."""
        return await self._apart(self._hosted(name).jail.read_file, path, limit=limit)

    async def forget(self, name: str) -> None:
        """Remove the remains of a closed jail."""
        hosted = self._jails.pop(name, None)
        if hosted is not None:
            for process in hosted.processes.values():
                process.drop()
            self._threads.submit(_removed, hosted)

    async def shut(self) -> None:
        """Close all jails, and remove all files of this worker."""
        for name in [*self._jails]:
            with contextlib.suppress(JailError):  # must not delay closing the others
                await self.close(name, returns=False)
        self._threads.shutdown()
        if self._scratch is not None:
            self._scratch.close()

    def _changed(self, hosted: _Hosted) -> Changed:
        is_live = not hosted.is_at_rest
        fields = entries(
            scan(hosted.jail.work, before=hosted.start, largest=hosted.largest, live=is_live)
        )
        result = change(hosted.there, fields)
        contents = None
        if result.size <= ALONG:
            contents = [hosted.read(name, 0, ALONG) for name in result.wanted]
        hosted.there = {**fields, **_unsure(result, contents)} if is_live else fields
        return result, contents

    @property
    def _cache(self) -> Contents:
        assert self._contents is not None  # noqa: S101 - it was greeted
        return self._contents

    def _hosted(self, name: str) -> _Hosted:
        hosted = self._jails.get(name)
        if hosted is None:
            raise JailKilled("The jail has ended: it was closed.")
        return hosted

    def _process(self, name: str, number: int) -> HostedProcess | None:
        hosted = self._jails.get(name)
        return hosted and hosted.processes.get(number)

    async def _apart(self, work: Callable[..., T], *arguments: Any, **named: Any) -> T:
        return await asyncio.get_running_loop().run_in_executor(
            self._threads, functools.partial(work, *arguments, **named)
        )


def _unsure(tree_change: TreeChange, contents: Sequence[bytes] | None) -> dict[str, TreeEntry]:
    """Return the files whose sent content may differ from their scanned state.

    Running code may have changed a file in between, so the driver must request it again.
    """
    read = (None for _ in tree_change.wanted) if contents is None else map(_digest, contents)
    there = {name: tree_change.created[name] for name in tree_change.wanted}
    return {
        name: replace(entry, value="")
        for (name, entry), digest in zip(there.items(), read, strict=True)
        if digest != entry.value
    }


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _removed(hosted: _Hosted) -> None:
    hosted.jail.close()
    for process in [*hosted.processes.values()]:
        process.process.close()
    hosted.folder.close()
