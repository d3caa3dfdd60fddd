"""Caches vectors in a file that may be deleted at any time."""

from __future__ import annotations

import hashlib
import logging
import sqlite3
import zlib
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from pathlib import Path

from .protocol import Embedder, Vector

BATCH = 64
"""The number of texts embedded together. An interruption loses at most one batch."""
MOST_REMEMBERED = 256
"""The maximum number of vectors in memory: all members of a team search for the same task."""
MOST_READ = 500
"""The maximum number of vectors per query: older builds of SQLite allow 999 values."""
SECONDS_TO_WAIT = 30.0
TABLE = """
    CREATE TABLE IF NOT EXISTS vectors (
        embedder TEXT, text BLOB, vector BLOB, crc INTEGER, PRIMARY KEY (embedder, text)
    ) WITHOUT ROWID
"""
BROKEN = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_ERROR)
"""SQLite's errors for a file that is damaged, no database, or has another table."""


class CachedEmbedder:
    """An embedder with a file cache, keyed by the embedder's name and the text's SHA-256.

    Any number of processes may share the file. A damaged file or vector is rebuilt. Without a
    writable file, vectors are computed each time. Nothing is flushed: vectors lost in a power
    failure are computed again.

    Args:
        embedder: Computes the vectors that are not in the file.
        path: The file. Its folder is created if missing, with a .gitignore.
        report: Receives the reason if vectors cannot be stored. Default: the log.
    """

    def __init__(
        self, embedder: Embedder, path: Path, *, report: Callable[[str], None] | None = None
    ) -> None:
        self._embedder = embedder
        self._path = path
        self._report = report or logging.getLogger(__name__).warning
        self._has_warned = False
        self._recent: dict[bytes, array[float]] = {}

    @property
    def name(self) -> str:
        """The embedder's name."""
        return self._embedder.name

    @property
    def dimension(self) -> int:
        """The length of a vector."""
        return self._embedder.dimension

    def embed(self, texts: Sequence[str]) -> list[Vector]:
        """Return a vector for each text; only texts that are not in the file are embedded."""
        # Tokenizers and encoders reject lone surrogates.
        whole = [text.encode("utf-8", "replace").decode() for text in texts]
        digests = [_digest(text) for text in whole]
        wanted = dict(zip(digests, whole, strict=True))
        table = {data: self._recent[data] for data in wanted if data in self._recent}
        table |= self._read(wanted.keys() - table.keys())
        for batch in _batches({data: text for data, text in wanted.items() if data not in table}):
            vectors = self._embedder.embed(list(batch.values()))
            # Rounded as in the file, so that the first use equals later ones.
            rounded = [array("f", vector) for vector in vectors]
            self._write(fresh := dict(zip(batch, rounded, strict=True)))
            table |= fresh
        self._recent = dict([*{**self._recent, **table}.items()][-MOST_REMEMBERED:])
        return [table[digest] for digest in digests]

    def _read(self, digests: Iterable[bytes]) -> dict[bytes, array[float]]:
        wanted = sorted(digests)  # as they lie in the file
        table: dict[bytes, array[float]] = {}
        if not wanted:
            return table
        try:
            with closing(self._opened()) as database:
                for start in range(0, len(wanted), MOST_READ):
                    some = wanted[start : start + MOST_READ]
                    rows = self._select(database, some)
                    stored = (
                        (text, vector) for text, vector, crc in rows if zlib.crc32(vector) == crc
                    )
                    table |= {text: array("f", vector) for text, vector in stored}
        except (sqlite3.Error, OSError) as error:
            self._give_up(error)
        return table

    def _select(self, database: sqlite3.Connection, digests: Sequence[bytes]) -> sqlite3.Cursor:
        places = ",".join("?" * len(digests))
        query = f"SELECT text, vector, crc FROM vectors WHERE embedder = ? AND text IN ({places})"  # noqa: S608 - only question marks
        return database.execute(query, (self.name, *digests))

    def _write(self, vectors: Mapping[bytes, array[float]]) -> None:
        blobs = {text: vector.tobytes() for text, vector in vectors.items()}
        rows = [(self.name, text, vector, zlib.crc32(vector)) for text, vector in blobs.items()]
        try:
            with closing(self._opened()) as database, database:
                database.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?, ?, ?)", rows)
        except (sqlite3.Error, OSError) as error:
            self._give_up(error)

    def _opened(self) -> sqlite3.Connection:
        """Open the file for one use, so that it may be deleted between two uses."""
        if not self._path.exists():
            self._path.parent.mkdir(parents=True, exist_ok=True)
            (self._path.parent / ".gitignore").write_text("*\n", encoding="utf-8")
        database = sqlite3.connect(self._path, timeout=SECONDS_TO_WAIT)
        try:
            database.execute("PRAGMA synchronous = OFF")
            database.execute(TABLE)
        except sqlite3.Error:
            database.close()
            raise
        return database

    def _give_up(self, error: Exception) -> None:
        """Continue without the file; a broken one is removed, so that the next use creates it."""
        if getattr(error, "sqlite_errorcode", None) in BROKEN:
            with suppress(OSError):
                self._path.unlink(missing_ok=True)
        elif not self._has_warned:
            self._has_warned = True
            self._report(f"{self._path}: vectors are not cached: {error}.")


def _digest(text: str) -> bytes:
    return hashlib.sha256(text.encode()).digest()


def _batches(texts: Mapping[bytes, str]) -> Iterator[dict[bytes, str]]:
    items = list(texts.items())
    for start in range(0, len(items), BATCH):
        yield dict(items[start : start + BATCH])
