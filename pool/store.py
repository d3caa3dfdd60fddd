"""Where vectors are searched: Qdrant, in this process or on a server.

A store is derived: the text of the memory fills it, and what is in it may be lost at any time.
"""

from __future__ import annotations

import hashlib
import ipaddress
import os
import socket
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import urlsplit

from ..schema.errors import InputError, RunError

if TYPE_CHECKING:
    from collections.abc import Collection, Generator, Mapping, Sequence
    from pathlib import Path

    from qdrant_client import QdrantClient
    from qdrant_client.models import Filter, SearchParams

    from .embedding import Vector

__all__ = ["Hit", "Point", "QdrantStore", "Store", "open_store"]

BATCH = 256
TIMEOUT = 60
"""Seconds for one request of a server."""
LONGEST_QUOTE = 300


@dataclass(frozen=True, kw_only=True, slots=True)
class Point:
    """What is stored of an entry.

    Attributes:
        key: A UUID that stands for the entry.
        vector: Its place, of unit length.
        kind: The entry's kind.
        niche: Its niche.
    """

    key: str
    vector: Vector
    kind: str
    niche: str | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Hit:
    """A point that was found: its key, and the cosine of its vector with the one asked for."""

    key: str
    similarity: float


class Store(Protocol):
    """Finds the vectors that are closest to one.

    A store **must** find the truly closest, not roughly; **must** have what was added, once, when
    `add` returns; and **must** take the same point again without a change.
    """

    def add(self, points: Sequence[Point]) -> None:
        """Store points; all vectors have the same length.

        Raises:
            RunError: A server cannot be reached, or refuses.
        """
        ...

    def search(
        self, vector: Vector, limit: int, *, kind: str | None = None, niche: str | None = None
    ) -> list[Hit]:
        """Give the closest points, the closest first; those of a kind and of a niche, if named.

        Raises:
            RunError: As for `add`.
        """
        ...

    def missing(self, keys: Collection[str]) -> set[str]:
        """Say which of these keys are not stored.

        Raises:
            RunError: As for `add`.
        """
        ...

    def count(self) -> int:
        """Say how many points are stored.

        Raises:
            RunError: As for `add`.
        """
        ...


class QdrantStore:
    """A collection of Qdrant. It is made with the first points.

    Args:
        client: Any client of Qdrant.
        collection: The collection's name.
        parameters: How to search, where the client has a choice.
    """

    def __init__(
        self, client: QdrantClient, collection: str, parameters: SearchParams | None = None
    ) -> None:
        self._client = client
        self._collection = collection
        self._parameters = parameters
        self._exists = False

    @classmethod
    def in_process(cls) -> QdrantStore:
        """Open a store in this process's memory. It is empty, and gone with the process."""
        from qdrant_client import QdrantClient

        return cls(QdrantClient(":memory:"), "experience")

    @classmethod
    def on_server(cls, url: str, collection: str, *, key: str | None = None) -> QdrantStore:
        """Open a collection of a server. Nothing is sent yet.

        Args:
            url: The server's address, with port.
            collection: The collection's name.
            key: The server's API key.

        Raises:
            InputError: The address is none, or the key would be sent in the clear.
        """
        _check(url, key)
        from qdrant_client import QdrantClient
        from qdrant_client.models import SearchParams

        # As `api_key` it would raise a warning of any server without TLS, one on this machine too.
        headers = {"api-key": key} if key else {}
        client = QdrantClient(url=url, timeout=TIMEOUT, check_compatibility=False, metadata=headers)
        return cls(client, collection, SearchParams(exact=True))

    def add(self, points: Sequence[Point]) -> None:
        """Store points.

        Raises:
            RunError: The server cannot be reached, or refuses.
        """
        from qdrant_client.models import Batch

        for start in range(0, len(points), BATCH):
            some = points[start : start + BATCH]
            self._make(len(some[0].vector))
            batch = Batch(
                ids=[point.key for point in some],
                vectors=[list(point.vector) for point in some],
                payloads=[{"kind": point.kind, "niche": point.niche} for point in some],
            )
            with self._answers():
                self._client.upsert(self._collection, batch, wait=True)

    def search(
        self, vector: Vector, limit: int, *, kind: str | None = None, niche: str | None = None
    ) -> list[Hit]:
        """Give the closest points, the closest first.

        Raises:
            RunError: The server cannot be reached, or refuses.
        """
        if not self._is_made():
            return []
        with self._answers():
            found = self._client.query_points(
                self._collection,
                query=list(vector),
                query_filter=_filter(kind=kind, niche=niche),
                search_params=self._parameters,
                limit=limit,
                with_payload=False,
            )
        return [Hit(key=str(point.id), similarity=point.score) for point in found.points]

    def missing(self, keys: Collection[str]) -> set[str]:
        """Say which of these keys are not stored.

        Raises:
            RunError: The server cannot be reached, or refuses.
        """
        absent = set(keys)
        if not self.count():
            return absent
        wanted = sorted(absent)
        for start in range(0, len(wanted), BATCH):
            some = wanted[start : start + BATCH]
            with self._answers():
                there = self._client.retrieve(self._collection, some, with_payload=False)
            absent -= {str(point.id) for point in there}
        return absent

    def count(self) -> int:
        """Say how many points are stored.

        Raises:
            RunError: The server cannot be reached, or refuses.
        """
        if not self._is_made():
            return 0
        with self._answers():
            return self._client.count(self._collection).count

    def _is_made(self) -> bool:
        if not self._exists:
            with self._answers():
                self._exists = self._client.collection_exists(self._collection)
        return self._exists

    def _make(self, dimension: int) -> None:
        if self._is_made():
            return
        from qdrant_client.models import Distance, VectorParams

        parameters = VectorParams(size=dimension, distance=Distance.COSINE)
        try:
            with self._answers():
                self._client.create_collection(self._collection, parameters)
        except RunError:
            if not self._is_made():  # else another process was quicker
                raise

    @contextmanager
    def _answers(self) -> Generator[None]:
        """Say what failed, and that nothing is lost by it."""
        from qdrant_client.common.client_exceptions import QdrantException
        from qdrant_client.http.exceptions import ApiException

        try:
            yield
        except (ApiException, QdrantException) as error:
            said = " ".join(str(error).split())[:LONGEST_QUOTE].rstrip(".")
            raise RunError(
                f"Qdrant, collection {self._collection!r}: {said}. Is the server of"
                " QDRANT_URL running, and QDRANT_API_KEY right? The memory's text is safe; unset"
                " QDRANT_URL to search in this process."
            ) from error


def open_store(
    pool_folder: Path, embedder: str, environment: Mapping[str, str] | None = None
) -> QdrantStore:
    """Open the store of a pool: on the server of `QDRANT_URL`, else in this process.

    Pools may share a server: a collection belongs to one folder of one machine and one embedder.

    Args:
        pool_folder: The pool.
        embedder: The name of the embedder, whose vectors do not compare with another's.
        environment: Has `QDRANT_URL` and `QDRANT_API_KEY`. Default: the process's environment.

    Raises:
        InputError: As for `QdrantStore.on_server`.
    """
    environment = os.environ if environment is None else environment
    url = environment.get("QDRANT_URL")
    if not url:
        return QdrantStore.in_process()
    owner = "\0".join((socket.gethostname(), str(pool_folder.resolve()), embedder))
    collection = f"coterie-{hashlib.sha256(owner.encode()).hexdigest()[:16]}"
    return QdrantStore.on_server(url, collection, key=environment.get("QDRANT_API_KEY") or None)


def _filter(**wanted: str | None) -> Filter | None:
    from qdrant_client.models import FieldCondition, Filter, MatchValue

    conditions: list[Any] = [
        FieldCondition(key=name, match=MatchValue(value=value))
        for name, value in wanted.items()
        if value is not None
    ]
    return Filter(must=conditions) if conditions else None


def _check(url: str, key: str | None) -> None:
    """Make sure that an address is one, and that nobody reads the key on its way."""
    parts = urlsplit(url)
    if parts.scheme not in {"http", "https"} or not parts.hostname or parts.username:
        raise InputError(
            f"QDRANT_URL={url!r} is not the address of a server. Write http://127.0.0.1:6333 or the"
            " like, without a user name."
        )
    if key and parts.scheme == "http" and not _is_here(parts.hostname):
        raise InputError(
            f"QDRANT_API_KEY would be sent to {parts.hostname!r} unencrypted. Use an address that"
            " begins with https, or unset the key."
        )


def _is_here(host: str) -> bool:
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
