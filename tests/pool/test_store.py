"""What every store must do, checked on each; and the ways in which a server fails."""

from __future__ import annotations

import math
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from coterie.pool.store import Hit, Point, QdrantStore, Store, open_store
from coterie.schema.errors import InputError, RunError

from .qdrant_server import QdrantServer


def key(number: int) -> str:
    return str(uuid.UUID(int=number))


def point(number: int, degrees: float, *, kind: str = "a", niche: str | None = None) -> Point:
    """A point of the unit circle."""
    angle = math.radians(degrees)
    return Point(key=key(number), vector=[math.cos(angle), math.sin(angle)], kind=kind, niche=niche)


EAST = [1.0, 0.0]


@pytest.fixture
def server() -> Iterator[QdrantServer]:
    with QdrantServer(key="open sesame") as server:
        yield server


@pytest.fixture(params=["in process", "on a server"])
def store(request: pytest.FixtureRequest, server: QdrantServer) -> Store:
    if request.param == "in process":
        return QdrantStore.in_process()
    return QdrantStore.on_server(server.url, "shelf", key="open sesame")


class TestLaws:
    def test_is_empty_at_first(self, store: Store) -> None:
        assert store.count() == 0
        assert store.search(EAST, 3) == []
        assert store.missing([key(1)]) == {key(1)}

    def test_finds_the_closest_first_with_their_cosine(self, store: Store) -> None:
        store.add([point(1, 90), point(2, 60), point(3, 0), point(4, 180)])
        found = store.search(EAST, 3)
        assert [hit.key for hit in found] == [key(3), key(2), key(1)]
        assert [hit.similarity for hit in found] == pytest.approx([1, 0.5, 0], abs=1e-6)

    def test_has_what_was_added_once(self, store: Store) -> None:
        store.add([point(1, 10), point(2, 20)])
        store.add([point(2, 20), point(3, 30)])
        assert store.count() == 3
        assert store.missing([key(number) for number in range(1, 6)]) == {key(4), key(5)}

    def test_keeps_to_a_kind_and_a_niche(self, store: Store) -> None:
        store.add(
            [
                point(1, 10, kind="a", niche="dates"),
                point(2, 20, kind="b", niche="dates"),
                point(3, 30, kind="b"),
            ]
        )
        assert [hit.key for hit in store.search(EAST, 9, kind="b")] == [key(2), key(3)]
        assert [hit.key for hit in store.search(EAST, 9, niche="dates")] == [key(1), key(2)]
        assert [hit.key for hit in store.search(EAST, 9, kind="b", niche="dates")] == [key(2)]
        assert store.search(EAST, 9, niche="nowhere") == []

    def test_takes_more_points_than_fit_one_request(self, store: Store) -> None:
        points = [point(number, number / 10) for number in range(600)]
        store.add(points)
        assert store.count() == 600
        assert store.missing([one.key for one in points]) == set()
        assert [hit.key for hit in store.search(EAST, 600)] == [one.key for one in points]


class TestServer:
    def test_is_shared_by_those_who_name_the_same_collection(self, server: QdrantServer) -> None:
        first, second, other = (
            QdrantStore.on_server(server.url, name, key=server.key) for name in ("x", "x", "y")
        )
        assert second.search(EAST, 1) == []
        first.add([point(1, 0)])
        assert second.search(EAST, 1) == [Hit(key=key(1), similarity=1)]
        second.add([point(2, 0)])
        assert first.count() == 2
        assert other.count() == 0

    def test_two_that_make_the_collection_at_once_both_get_it(self, server: QdrantServer) -> None:
        first, second = (QdrantStore.on_server(server.url, "x", key=server.key) for _ in range(2))
        second._is_made = iter([False, True]).__next__  # type: ignore[method-assign]
        first.add([point(1, 0)])
        second.add([point(2, 0)])
        assert first.count() == 2

    @pytest.mark.parametrize("status", [401, 403, 429, 500, 503])
    def test_that_refuses_is_a_failed_run_with_advice(
        self, server: QdrantServer, status: int
    ) -> None:
        store = QdrantStore.on_server(server.url, "x", key=server.key)
        server.status = status
        for use in (store.count, lambda: store.add([point(1, 0)])):
            with pytest.raises(RunError, match=f"(?s){status}.*QDRANT_API_KEY right"):
                use()

    def test_that_refuses_the_collection_is_a_failed_run(self, server: QdrantServer) -> None:
        store = QdrantStore.on_server(server.url, "x", key=server.key)
        assert store.count() == 0
        server.status = 507
        store._is_made = lambda: False  # type: ignore[method-assign]
        with pytest.raises(RunError, match="507"):
            store.add([point(1, 0)])

    def test_with_another_key_is_a_failed_run(self, server: QdrantServer) -> None:
        with pytest.raises(RunError, match="401"):
            QdrantStore.on_server(server.url, "x", key="wrong").count()

    def test_that_is_not_there_is_a_failed_run(self) -> None:
        with QdrantServer() as server:
            url = server.url
        with pytest.raises(RunError, match="unset QDRANT_URL"):
            QdrantStore.on_server(url, "x").count()


class TestChoice:
    def test_is_this_process_where_no_server_is_named(self, tmp_path: Path) -> None:
        store = open_store(tmp_path, "embedder", {})
        store.add([point(1, 0)])
        assert open_store(tmp_path, "embedder", {"QDRANT_URL": ""}).count() == 0

    def test_gives_each_pool_and_embedder_a_collection_of_its_own(
        self, server: QdrantServer, tmp_path: Path
    ) -> None:
        (tmp_path / "pool").mkdir()
        (tmp_path / "link").symlink_to("pool")
        environment = {"QDRANT_URL": server.url, "QDRANT_API_KEY": "open sesame"}
        for pool, embedder in [("pool", "a"), ("link", "a"), ("pool", "b"), ("elsewhere", "a")]:
            open_store(tmp_path / pool, embedder, environment).add([point(1, 0)])
        assert len(server.collections) == 3

    @pytest.mark.parametrize(
        "url", ["localhost:6333", "ftp://localhost", "http://", "http://me@localhost", ":memory:"]
    )
    def test_refuses_what_is_no_address(self, url: str, tmp_path: Path) -> None:
        with pytest.raises(InputError, match="is not the address of a server"):
            open_store(tmp_path, "embedder", {"QDRANT_URL": url})

    def test_sends_no_key_in_the_clear(self, tmp_path: Path) -> None:
        environment = {"QDRANT_URL": "http://qdrant.example:6333", "QDRANT_API_KEY": "secret"}
        with pytest.raises(InputError, match="unencrypted"):
            open_store(tmp_path, "embedder", environment)
        open_store(tmp_path, "embedder", environment | {"QDRANT_URL": "https://qdrant.example"})
        open_store(tmp_path, "embedder", environment | {"QDRANT_URL": "http://localhost:1"})
