"""The files that a worker has received: each content once, by its digest."""

from __future__ import annotations

import hashlib
import threading
from collections import Counter
from collections.abc import Collection, Generator, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from ...schema.values.errors import JailError

CHUNK = 1 << 20


class Contents:
    """Contents of files, in a folder. Every method may be called from any thread.

    Args:
        folder: A folder of its own, which it creates.
        limit: Bytes to keep of unneeded contents; the least recently used go first.
    """

    def __init__(self, folder: Path, limit: int) -> None:
        folder.mkdir()
        self._folder = folder
        self._limit = limit
        self._turn = threading.Lock()
        self._sizes: dict[str, int] = {}
        self._held: Counter[str] = Counter()

    def missing(self, digests: Iterable[str]) -> list[str]:
        """Return the digests of contents that are not here, each once."""
        with self._turn:
            return [digest for digest in dict.fromkeys(digests) if digest not in self._sizes]

    @contextmanager
    def held(self, digests: Collection[str]) -> Generator[list[str]]:
        """Keep some contents for as long as the block lasts.

        Yields:
            The digests of contents that are not here.
        """
        with self._turn:
            self._held.update(digests)
            for digest in digests:  # they are the latest used from now on
                if digest in self._sizes:
                    self._sizes[digest] = self._sizes.pop(digest)
        try:
            yield self.missing(digests)
        finally:
            with self._turn:
                self._held -= Counter(digests)
                self._trim()

    def keep(self, sender: str, digest: str, piece: bytes, *, last: bool) -> None:
        """Add a piece of a content; the last piece completes it.

        Args:
            sender: Identifies the sender, which sends one piece after the other.

        Raises:
            JailError: The content does not match its digest, or cannot be written.
        """
        part = self._folder / f"part-{sender}-{digest}"
        try:
            with part.open("ab") as file:
                file.write(piece)
            if last:
                self._keep(digest, part)
        except OSError as error:
            raise JailError(f"The worker cannot store a file: {error}.") from error
        finally:
            if last:
                part.unlink(missing_ok=True)

    def _keep(self, digest: str, part: Path) -> None:
        with part.open("rb") as file:
            result = hashlib.file_digest(file, "sha256").hexdigest()
        if result != digest:
            raise JailError("A file of the work folder changed while it was being sent.")
        with self._turn:
            self._sizes[digest] = part.replace(self._folder / digest).stat().st_size

    def pieces(self, digest: str) -> Iterator[bytes]:
        """Yield the bytes of a held content."""
        with (self._folder / digest).open("rb") as file:
            while piece := file.read(CHUNK):
                yield piece

    def _trim(self) -> None:
        size = sum(self._sizes.values())
        for digest in [*self._sizes]:
            if size <= self._limit:
                return
            if not self._held[digest]:
                size -= self._sizes.pop(digest)
                (self._folder / digest).unlink(missing_ok=True)
