"""A vector store on a Qdrant server, which several processes and machines may share."""

from __future__ import annotations

import hashlib
import ipaddress
import re
import socket
from contextlib import contextmanager
from json import JSONDecodeError
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from ...schema.values.errors import InputError, RunError
from ...schema.values.problems import quoted
from .store import DIGITS, Hit, Lost

if TYPE_CHECKING:
    from collections.abc import Collection, Generator, Iterator, Sequence
    from pathlib import Path

    from qdrant_client import QdrantClient
    from qdrant_client.models import Condition, Filter, SearchParams

    from ..embedding import Vector
    from .store import Labels, VectorPoint, VectorQuery

BATCH = 256
TIMEOUT = 60
"""Seconds for one request."""
LONGEST_QUOTE = 300
FIRST = 16
"""The number of points requested first; the number grows while more are wanted."""
WIDENING = 4
OLDEST = (1, 10)
"""The first server version with the search that we use."""
NOT_FOUND = 404
_PREFIX = re.compile(r"[A-Za-z0-9_-]{1,64}")


class QdrantStore:
    """A collection of Qdrant. The first process that adds points creates it.

    Points are identified by keys, so several processes may store the same points. A collection with
    vectors of another kind is removed. Then, and if a collection is gone, `Lost` reports that its
    points must be stored again.

    Args:
        parameters: Search parameters of the client.
    """

    def __init__(
        self, client: QdrantClient, collection: str, parameters: SearchParams | None = None
    ) -> None:
        self._client = client
        self._collection = collection
        self._parameters = parameters
        self._is_met = False
        self._exists = False
        self._size: int | None = None

    @classmethod
    def on_server(cls, url: str, collection: str, *, key: str | None = None) -> QdrantStore:
        """Open a collection of a server, without sending a request yet."""
        _check(url, key)
        from qdrant_client import QdrantClient
        from qdrant_client.models import SearchParams

        # The argument `api_key` warns about any server without TLS, even a local one.
        headers = {"api-key": key} if key else {}
        client = QdrantClient(url=url, timeout=TIMEOUT, check_compatibility=False, metadata=headers)
        return cls(client, collection, SearchParams(exact=True))

    def add(self, points: Sequence[VectorPoint]) -> None:
        """Store points."""
        from qdrant_client.models import Batch

        for start in range(0, len(points), BATCH):
            some = points[start : start + BATCH]
            self._make(len(some[0].vector))
            batch = Batch(
                ids=[point.key for point in some],
                vectors=[list(point.vector) for point in some],
                payloads=[_payload(point.labels) for point in some],
            )
            with self._answers():
                self._client.upsert(self._collection, batch, wait=True)

    def closest(self, vector: Vector, query: VectorQuery) -> Iterator[Hit]:
        """Yield matching points one by one, the closest first."""
        yielded, limit = 0, FIRST
        while len(hits := self._closest(vector, query, limit)) == limit:
            # Further points may be as close as the last one.
            sure = [hit for hit in hits if hit.similarity > hits[-1].similarity]
            yield from sure[yielded:]
            yielded, limit = len(sure), limit * WIDENING
        yield from hits[yielded:]

    def _closest(self, vector: Vector, query: VectorQuery, limit: int) -> list[Hit]:
        if not self._is_created():
            return []
        self._expect_fit(len(vector))
        with self._answers():
            result = self._client.query_points(
                self._collection,
                query=list(vector),
                query_filter=_filter(query),
                search_params=self._parameters,
                limit=limit,
                with_payload=False,
            )
        hits = (
            Hit(key=str(point.id), similarity=round(point.score, DIGITS)) for point in result.points
        )
        return sorted(hits, key=lambda hit: -hit.similarity)

    def missing(self, keys: Collection[str]) -> set[str]:
        """Return the keys without a stored point.

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
        """Return the number of stored points."""
        if not self._is_created():
            return 0
        with self._answers():
            return self._client.count(self._collection).count

    def _is_created(self) -> bool:
        if not self._is_met:
            self._meet()
        if not self._exists:
            with self._answers():
                self._exists = self._client.collection_exists(self._collection)
        return self._exists

    def _meet(self) -> None:
        """Check that the server is a supported Qdrant."""
        with self._answers():
            met = self._client.info()
        if "qdrant" not in met.title.lower() or _version(met.version) < OLDEST:
            least = ".".join(map(str, OLDEST))
            raise RunError(
                f"Qdrant: the server of QDRANT_URL is {quoted(met.title)}, version"
                f" {quoted(met.version)}. Qdrant {least} or later is required. What was learnt is"
                " safe; unset QDRANT_URL to search in this process."
            )
        self._is_met = True

    def _make(self, dimension: int) -> None:
        if self._is_created():
            self._expect_fit(dimension)
            return
        from qdrant_client.models import Distance, VectorParams

        parameters = VectorParams(size=dimension, distance=Distance.COSINE)
        try:
            with self._answers():
                self._client.create_collection(self._collection, parameters)
        except RunError:
            if not self._is_created():  # otherwise another process created it first
                raise
            self._expect_fit(dimension)
        else:
            self._exists, self._size = True, dimension

    def _expect_fit(self, dimension: int) -> None:
        """Check that the collection has vectors of this length, compared by cosine."""
        if self._size is None:
            with self._answers():
                vectors = self._client.get_collection(self._collection).config.params.vectors
            cosine = getattr(vectors, "distance", "") == "Cosine"
            self._size = int(getattr(vectors, "size", 0)) if cosine else 0
        if self._size != dimension:
            with self._answers():
                self._client.delete_collection(self._collection)
            raise self._loss("had vectors of another size")

    def _loss(self, why: str) -> Lost:
        self._exists, self._size = False, None
        return Lost(f"Qdrant, collection {self._collection!r}: {why}. It will be rebuilt.")

    @contextmanager
    def _answers(self) -> Generator[None]:
        """Convert errors of the server to one that says that nothing is lost."""
        from qdrant_client.common.client_exceptions import QdrantException
        from qdrant_client.http.exceptions import ApiException

        try:
            yield
        except (ApiException, QdrantException, JSONDecodeError, UnicodeDecodeError) as error:
            if self._exists and getattr(error, "status_code", None) == NOT_FOUND:
                raise self._loss("is gone") from error
            text = " ".join(str(error).split())[:LONGEST_QUOTE].rstrip(".")
            raise RunError(
                f"Qdrant, collection {self._collection!r}: {text}. Is the server of"
                " QDRANT_URL running, and QDRANT_API_KEY right? What was learnt is safe; unset"
                " QDRANT_URL to search in this process."
            ) from error


def collection_of(pool_folder: Path, embedder: str, prefix: str = "coterie") -> str:
    """Return the collection's name for a folder, a machine and an embedder: pools share a server.

    Args:
        prefix: The prefix of collection names, to separate users of a server.

    Raises:
        InputError: The prefix is not allowed in a collection's name.
    """
    if not _PREFIX.fullmatch(prefix):
        raise InputError(
            f"QDRANT_PREFIX={quoted(prefix)} is invalid as the start of a collection's name. Use up"
            " to 64 characters: a to z, digits, - and _."
        )
    owner = "\0".join((socket.gethostname(), str(pool_folder.resolve()), embedder))
    return f"{prefix}-{hashlib.sha256(owner.encode()).hexdigest()[:16]}"


def _version(text: str) -> tuple[int, ...]:
    return tuple(int(item) for item in re.findall(r"\d{1,9}", text)[:2])


def _payload(labels: Labels) -> dict[str, Any]:
    fields = {"kind": labels.kind, "niche": labels.niche, "level": labels.level}
    return {**fields, "owner": list(labels.owners)}


def _filter(query: VectorQuery) -> Filter | None:
    from qdrant_client.models import FieldCondition, Filter, MatchAny, MatchValue

    must: list[Condition] = [
        FieldCondition(key=name, match=MatchValue(value=label))
        for name, label in (("kind", query.kind), ("level", query.level))
        if label is not None
    ]
    if query.niche is not None:
        must.append(_of_niche(query.niche, or_none=query.or_no_niche))
    if query.owners is not None:
        must.append(FieldCondition(key="owner", match=MatchAny(any=list(query.owners))))
    return Filter(must=must) if must else None


def _of_niche(niche: str, *, or_none: bool) -> Condition:
    from qdrant_client.models import FieldCondition, Filter, IsEmptyCondition, MatchValue
    from qdrant_client.models import PayloadField as Field

    there = FieldCondition(key="niche", match=MatchValue(value=niche))
    if not or_none:
        return there
    return Filter(should=[there, IsEmptyCondition(is_empty=Field(key="niche"))])


def _check(url: str, key: str | None) -> None:
    """Check that an address is valid and the key is never sent unencrypted."""
    parts = urlsplit(url)
    if parts.scheme not in {"http", "https"} or not parts.hostname or parts.username:
        raise InputError(
            f"QDRANT_URL={url!r} is not a server's address. Write for instance"
            " http://127.0.0.1:6333, without a user name."
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
