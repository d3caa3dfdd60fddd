"""The driver's side of a jail on a worker."""

from __future__ import annotations

import secrets
import subprocess
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Self

from ...schema.values.errors import JailError, LimitError, ModelError, StorageError
from ..jail.process import JailKilled, JailLost
from ..jail.request import JailRequest
from ..jail.tree import (
    TreeChange,
    TreeEntry,
    entries,
    read_content,
    rebuild,
    scan,
)
from .host import ALONG
from .link import Link, WorkerLost
from .process import RemoteProcess

TRIES = 5
"""How often to send files that a worker lacks; it may have to drop some meanwhile."""
WHAT_STAYS = (ModelError, LimitError, StorageError)
"""Exceptions that keep their meaning even if the jail is lost meanwhile."""


class RemoteJail:
    """A jail on a worker; see `AnyJail`. It is open once created.

    Args:
        on_end: Called once when it is closed, or its worker is lost.

    Raises:
        WorkerLost: The worker ended before the jail was open.
        JailError: The jail cannot be opened there, or the work folder cannot be read.
    """

    def __init__(
        self,
        link: Link,
        work: Path,
        request: JailRequest,
        *,
        on_end: Callable[[Link, WorkerLost | None], object],
    ) -> None:
        self.work = work.resolve()
        self.limits = request.limits
        self.lost: WorkerLost | None = None
        self._returns = request.returns
        self._link = link
        self._name = secrets.token_hex(16)
        self._turn = threading.Lock()
        self._bringing = threading.Lock()
        self._processes: set[RemoteProcess] = set()
        self._ended: str | None = None
        self._is_closed = False
        self._on_end: Callable[[Link, WorkerLost | None], object] | None = on_end
        if not self.work.is_dir():
            raise JailError(f"The work folder {str(self.work)!r} is not a folder.")
        folders = (self.work, *(path.resolve() for path in request.host_folders))
        _Sending(link, self._name, folders).open(self.work, request)

    def start(
        self,
        command: Sequence[str],
        *,
        folder: Path | None = None,
        stdin: int = subprocess.DEVNULL,
        stderr: int = subprocess.STDOUT,
    ) -> RemoteProcess:
        """Start a command in the jail; see `AnyJail`."""
        self.check()
        words, where = [str(word) for word in command], folder or self.work
        number = self._ask_worker("start", words, where, stdin=stdin, stderr=stderr)
        process = RemoteProcess(
            self._link,
            self._name,
            number,
            stdin=stdin == subprocess.PIPE,
            stderr=stderr == subprocess.PIPE,
            on_lost=self._lose,
        )
        with self._turn:
            self._processes = {item for item in self._processes if item.running} | {process}
        try:
            self.check()
        except JailKilled:
            process.close()
            raise
        return process

    def check(self) -> None:
        """Raise if the jail is no longer usable; see `AnyJail`."""
        if self.lost is not None:
            raise self._loss()
        if self._ended is not None:
            raise JailKilled(f"The jail has ended: {self._ended}.")

    def refresh(self) -> None:
        """Update the work folder here to the worker's."""
        with self._bringing:
            self.check()
            self._bring(*self._ask_worker("refresh"))

    def read_file(self, name: str, *, limit: int) -> bytes:
        """Return the content of a file of the worker's folder; see `AnyJail`."""
        content: bytes = self._ask_worker("read_file", name, limit)
        return content

    def kill(self, reason: str = "the host killed it") -> None:
        """End every process of the jail for good. Calls that wait for one raise `JailKilled`."""
        with self._turn:
            self._ended = self._ended or reason
            processes = tuple(self._processes)
        self._link.tell("kill", self._name, reason)
        for process in processes:
            process.abandon()

    def close(self) -> None:
        """End every process and bring back the code's changes, unless the jail was killed before.

        Raises:
            JailLost: The worker is gone, and the code's changes with it.
            Overgrown: The changes are larger than allowed.
            JailError: The changes cannot be transferred.
        """
        with self._turn:
            was_killed, is_closed = self._ended is not None, self._is_closed
            self._ended, self._is_closed = self._ended or "the jail was closed", True
            processes = tuple(self._processes)
        if is_closed:
            return
        returns = self._returns and not was_killed
        try:
            with self._bringing:
                result = self._ask_worker("close", returns)
                if returns:
                    self._bring(*result)
        except JailLost:
            if returns:
                raise
        finally:
            self._link.tell("forget", self._name)
            self._notify(None)
            for process in processes:
                process.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, _kind: object, error: BaseException | None, _trace: object) -> None:
        """Close the jail; if the worker is lost, that replaces an error of the block."""
        try:
            self.close()
        except JailError:
            if not isinstance(error, WHAT_STAYS):
                raise
        if error is not None and self.lost is not None and not isinstance(error, WHAT_STAYS):
            raise self._loss() from error

    def _loss(self) -> JailLost:
        return JailLost(f"The worker with the jail is lost: {self.lost}")

    def _lose(self, error: WorkerLost) -> None:
        with self._turn:
            self.lost = self.lost or error
            processes = tuple(self._processes)
        for process in processes:
            process.forsake()
        self._notify(error)

    def _notify(self, error: WorkerLost | None) -> None:
        with self._turn:
            function, self._on_end = self._on_end, None
        if function is not None:
            function(self._link, error)

    def _ask_worker(self, method: str, *arguments: Any, **named: Any) -> Any:
        if self.lost is not None:
            raise self._loss()
        try:
            return self._link.ask(method, self._name, *arguments, **named)
        except WorkerLost as lost:
            self._lose(lost)
            raise self._loss() from lost

    def _bring(self, changed: TreeChange, contents: Sequence[bytes] | None) -> None:
        """Apply the worker's changes to the work folder."""
        there = dict(zip(changed.wanted, contents or (), strict=contents is not None))

        def pieces(name: str, entry: TreeEntry) -> Iterable[bytes]:
            if name in there:
                return [there[name]]
            offsets = range(0, entry.size, ALONG)
            return (self._ask_worker("piece", name, offset, ALONG) for offset in offsets)

        rebuild(self.work, changed, pieces)


class _Sending:
    """A transfer of folders to a worker, which already has some of their files."""

    def __init__(self, link: Link, name: str, folders: Iterable[Path]) -> None:
        self._link, self._name = link, name
        self._files: dict[str, tuple[Path, str, int]] = {}
        self._trees = {folder: self._tree(folder) for folder in folders}

    def open(self, work: Path, request: JailRequest) -> None:
        """Open a jail on the worker, and send the contents that the worker lacks."""
        for _ in range(TRIES):
            missing = self._link.ask("open", self._name, work, request, self._trees)
            if not missing:
                return
            self._send_files(missing)
        raise JailError("The worker has no room for the files of the work folder.")

    def _tree(self, folder: Path) -> Mapping[str, TreeEntry]:
        tree = entries(scan(folder))
        files = ((name, entry) for name, entry in tree.items() if entry.kind == "file")
        self._files |= {entry.value: (folder, name, entry.size) for name, entry in files}
        return tree

    def _send_files(self, digests: Sequence[str]) -> None:
        batch: list[tuple[str, bytes, bool]] = []
        size = 0
        for digest in digests:
            folder, name, length = self._files[digest]
            for offset in range(0, max(length, 1), ALONG):
                piece = read_content(folder, name, offset, ALONG)
                batch.append((digest, piece, offset + ALONG >= length))
                size += len(piece)
                if size >= ALONG:
                    self._link.ask("keep", self._name, batch)
                    batch, size = [], 0
        if batch:
            self._link.ask("keep", self._name, batch)
