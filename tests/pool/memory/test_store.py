"""What every store must do, checked on each; that ours is exact; and how a server fails."""

import math
import random
import uuid
from array import array
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coterie.pool.embedding import Vector
from coterie.pool.embedding.protocol import unit
from coterie.pool.memory import qdrant
from coterie.pool.memory.qdrant import QdrantStore, collection_of
from coterie.pool.memory.shards import VectorShards
from coterie.pool.memory.store import (
    DIGITS,
    Hit,
    Labels,
    Lost,
    Store,
    VectorPoint,
    VectorQuery,
    open_store,
)
from coterie.schema.values.errors import InputError, RunError

from ..qdrant_server import QdrantServer


def key(number: int) -> str:
    return str(uuid.UUID(int=number))


ANY = VectorQuery()
EAST = [1.0, 0.0]


def point(number: int, degrees: float, *, kind: str = "a", **has: Any) -> VectorPoint:
    """A point of the unit circle."""
    angle = math.radians(degrees)
    vector = [math.cos(angle), math.sin(angle)]
    return VectorPoint(key=key(number), vector=vector, labels=Labels(kind=kind, **has))


def found(store: Store, query: VectorQuery = ANY) -> list[str]:
    return [hit.key for hit in store.closest(EAST, query)]


@pytest.fixture
def server() -> Iterator[QdrantServer]:
    with QdrantServer(key="open sesame") as server:
        yield server


@pytest.fixture(params=["in process", "on a server", "in Qdrant's client"])
def store(request: pytest.FixtureRequest, server: QdrantServer) -> Store:
    if request.param == "in process":
        return VectorShards()
    if request.param == "in Qdrant's client":
        from qdrant_client import QdrantClient  # seconds, for every process that collects tests

        return QdrantStore(QdrantClient(":memory:"), "shelf")
    return QdrantStore.on_server(server.url, "shelf", key="open sesame")


class TestLaws:
    def test_is_empty_at_first(self, store: Store) -> None:
        assert found(store) == []
        assert store.missing([key(1)]) == {key(1)}

    def test_gives_the_closest_first_with_their_cosine(self, store: Store) -> None:
        store.add([point(1, 90), point(2, 60), point(3, 0), point(4, 180)])
        hits = list(store.closest(EAST, ANY))
        assert [hit.key for hit in hits] == [key(3), key(2), key(1), key(4)]
        assert [hit.similarity for hit in hits] == pytest.approx([1, 0.5, 0, -1], abs=1e-6)

    def test_has_what_was_added_once(self, store: Store) -> None:
        store.add([point(1, 10), point(2, 20)])
        store.add([point(2, 20), point(3, 30)])
        assert found(store) == [key(1), key(2), key(3)]
        assert store.missing([key(number) for number in range(1, 6)]) == {key(4), key(5)}

    def test_keeps_to_what_is_asked_for(self, store: Store) -> None:
        store.add(
            [
                point(1, 10, kind="a", niche="dates", owners=("ada",), level="task"),
                point(2, 20, kind="b", niche="dates", owners=("ben",)),
                point(3, 30, kind="b", owners=("ada",), level="task"),
                point(4, 40, kind="b"),
            ]
        )
        ada = ("ada",)
        assert found(store, VectorQuery(kind="b")) == [key(2), key(3), key(4)]
        assert found(store, VectorQuery(niche="dates")) == [key(1), key(2)]
        assert found(store, VectorQuery(kind="b", niche="dates")) == [key(2)]
        assert found(store, VectorQuery(owners=ada)) == [key(1), key(3)]
        assert found(store, VectorQuery(kind="a", owners=ada, level="task")) == [key(1)]
        assert found(store, VectorQuery(niche="nowhere")) == []
        assert found(store, VectorQuery(owners=())) == []

    def test_has_what_is_several_agents_once_for_each_of_them(self, store: Store) -> None:
        store.add(
            [
                point(1, 10, owners=("ada", "ben")),
                point(2, 20, owners=("ben",), niche="dates"),
                point(3, 30, owners=("cleo",)),
            ]
        )
        assert found(store, VectorQuery(owners=("ada",))) == [key(1)]
        assert found(store, VectorQuery(owners=("ben",))) == [key(1), key(2)]
        assert found(store, VectorQuery(owners=("ada", "ben", "nobody"))) == [key(1), key(2)]
        assert found(store, VectorQuery(owners=("cleo", "ada"))) == [key(1), key(3)]
        assert found(store) == [key(1), key(2), key(3)]

    def test_gives_what_has_no_niche_beside_a_niche_if_wanted(self, store: Store) -> None:
        store.add(
            [point(1, 10, niche="dates"), point(2, 20, niche="sums"), point(3, 30, niche=None)]
        )
        assert found(store, VectorQuery(niche="dates", or_no_niche=True)) == [key(1), key(3)]
        assert found(store, VectorQuery(or_no_niche=True)) == [key(1), key(2), key(3)]

    def test_finds_what_one_agent_has_among_many_others(self, store: Store) -> None:
        owners = [("ada",) if number % 10 == 0 else ("ben",) for number in range(100)]
        store.add([point(number, number, owners=own) for number, own in enumerate(owners)])
        assert found(store, VectorQuery(owners=("ada",))) == [
            key(number) for number in range(0, 100, 10)
        ]
        assert len(found(store, VectorQuery(owners=("ben",)))) == 90

    def test_takes_more_points_than_fit_one_request(self, store: Store) -> None:
        points = [point(number, number / 10) for number in range(600)]
        store.add(points)
        assert store.missing([item.key for item in points]) == set()
        assert found(store) == [item.key for item in points]

    def test_gives_each_of_many_equals_once(self, store: Store) -> None:
        store.add([point(number, 40) for number in range(200)])
        store.add([point(200, 1)])
        assert found(store)[0] == key(200)
        assert sorted(found(store)) == [key(number) for number in range(201)]


def cosine(vector: Vector, other: Vector) -> float:
    return math.fsum(a * b for a, b in zip(vector, other, strict=True))


@given(
    st.lists(
        st.tuples(st.integers(0, 12), st.sampled_from("abc"), st.sets(st.sampled_from("xyz"))),
        min_size=1,
        max_size=300,
    ),
    st.sampled_from([None, "a", "b"]),
    st.none() | st.sets(st.sampled_from("xyz")),
)
def test_what_this_process_finds_is_exact_and_in_order(
    has: list[tuple[int, str, set[str]]], wanted: str | None, owners: set[str] | None
) -> None:
    """Whatever is stored, and however it is shelved: as if each had been looked at alone."""
    store, chance = VectorShards(), random.Random(len(has))
    base = [unit([chance.gauss(0, 1) for _ in range(48)]) for _ in range(13)]
    points = [
        VectorPoint(
            key=key(number),
            vector=array("f", base[which]),
            labels=Labels(kind=kind, owners=tuple(own)),
        )
        for number, (which, kind, own) in enumerate(has)
    ]
    store.add(points)
    expected = {
        item.key: round(cosine(item.vector, points[0].vector), DIGITS)
        for item in points
        if wanted in (None, item.labels.kind)
        and (owners is None or owners.intersection(item.labels.owners))
    }
    asked = VectorQuery(kind=wanted, owners=None if owners is None else tuple(owners))
    hits = list(store.closest(points[0].vector, asked))
    assert {hit.key: hit.similarity for hit in hits} == pytest.approx(expected, abs=1.1e-6)
    assert [hit.similarity for hit in hits] == sorted(expected.values(), reverse=True)
    assert len(hits) == len(expected)


def test_how_close_two_are_does_not_depend_on_what_else_is_stored() -> None:
    chance = random.Random(5)
    vectors = [unit([chance.gauss(0, 1) for _ in range(384)]) for _ in range(700)]
    points = [
        VectorPoint(
            key=key(number), vector=array("f", vector), labels=Labels(niche=str(number % 3))
        )
        for number, vector in enumerate(vectors)
    ]
    whole = VectorShards()
    whole.add(points)
    together = {hit.key: hit.similarity for hit in whole.closest(vectors[0], ANY)}
    for item in points[:50]:
        alone = VectorShards()
        alone.add([item])
        [hit] = alone.closest(vectors[0], ANY)
        assert hit.similarity == together[item.key]


class TestServer:
    def test_is_shared_by_those_who_name_the_same_collection(self, server: QdrantServer) -> None:
        first, second, other = (
            QdrantStore.on_server(server.url, name, key=server.key) for name in ("x", "x", "y")
        )
        assert second.missing([key(1)])
        first.add([point(1, 0)])
        assert [*second.closest(EAST, ANY)] == [Hit(key=key(1), similarity=1)]
        second.add([point(2, 0)])
        assert len(found(first)) == 2
        assert found(other) == []

    def test_two_that_make_the_collection_at_once_both_get_it(self, server: QdrantServer) -> None:
        first, second = (QdrantStore.on_server(server.url, "x", key=server.key) for _ in range(2))
        second._is_created = iter([False, True, True]).__next__  # type: ignore[method-assign]
        first.add([point(1, 0)])
        second.add([point(2, 0)])
        assert len(found(first)) == 2

    @pytest.mark.parametrize("status", [401, 403, 429, 500, 503])
    def test_that_refuses_fails_with_advice(self, server: QdrantServer, status: int) -> None:
        store = QdrantStore.on_server(server.url, "x", key=server.key)
        server.status = status
        for use in (lambda: store.missing([key(1)]), lambda: store.add([point(1, 0)])):
            with pytest.raises(RunError, match=f"(?s){status}.*QDRANT_API_KEY right"):
                use()

    def test_that_refuses_the_collection_is_a_failed_run(self, server: QdrantServer) -> None:
        store = QdrantStore.on_server(server.url, "x", key=server.key)
        assert store.missing([key(1)])
        server.status = 507
        store._is_created = lambda: False  # type: ignore[method-assign]
        with pytest.raises(RunError, match="507"):
            store.add([point(1, 0)])

    def test_with_another_key_is_a_failed_run(self, server: QdrantServer) -> None:
        with pytest.raises(RunError, match="401"):
            QdrantStore.on_server(server.url, "x", key="wrong").missing([key(1)])

    def test_that_is_not_there_is_a_failed_run(self) -> None:
        with QdrantServer() as server:
            url = server.url
        with pytest.raises(RunError, match="unset QDRANT_URL"):
            QdrantStore.on_server(url, "x").missing([key(1)])

    @pytest.mark.parametrize(
        ("title", "version"),
        [
            ("qdrant - vector search engine", "1.9.7"),
            ("weaviate", "1.30.0"),
            ("qdrant", "dev"),
            ("other", "9" * 5000),
        ],
    )
    def test_too_old_is_a_failed_run(self, server: QdrantServer, title: str, version: str) -> None:
        server.title, server.version = title, version
        store = QdrantStore.on_server(server.url, "x", key=server.key)
        with pytest.raises(RunError, match=rf"'{title}', version '{version[:20]}.*1\.10 or later"):
            store.missing([key(1)])

    @pytest.mark.parametrize(
        "page", [b"<html>Welcome</html>", b"{}", b"[1]", b"", b'{"title": "\xe9"}']
    )
    def test_that_is_no_qdrant_is_a_failed_run(self, server: QdrantServer, page: bytes) -> None:
        server.page = page
        with pytest.raises(RunError, match="unset QDRANT_URL"):
            QdrantStore.on_server(server.url, "x").add([point(1, 0)])

    def test_that_hangs_is_a_failed_run(
        self, server: QdrantServer, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(qdrant, "TIMEOUT", 1)
        store = QdrantStore.on_server(server.url, "x", key=server.key)
        server.awake.clear()
        try:
            with pytest.raises(RunError, match=r"timed out.*unset QDRANT_URL"):
                store.missing([key(1)])
        finally:
            server.awake.set()

    def test_that_was_emptied_says_so_and_takes_all_again(self, server: QdrantServer) -> None:
        store = QdrantStore.on_server(server.url, "x", key=server.key)
        for use in (
            lambda: found(store),
            lambda: store.missing([key(1)]),
            lambda: store.add([point(1, 0)]),
        ):
            store.add([point(1, 0)])
            server.collections.clear()
            server.sizes.clear()
            with pytest.raises(Lost, match="is gone"):
                use()
            assert found(store) == []

    def test_with_vectors_of_another_kind_is_emptied_once(self, server: QdrantServer) -> None:
        QdrantStore.on_server(server.url, "x", key=server.key).add([point(1, 0)])
        wide = VectorPoint(key=key(2), vector=[0.0, 0.0, 1.0], labels=Labels())
        store = QdrantStore.on_server(server.url, "x", key=server.key)
        with pytest.raises(Lost, match="had vectors of another size"):
            store.add([wide])
        store.add([wide])
        assert [hit.key for hit in store.closest(wide.vector, ANY)] == [key(2)]
        with pytest.raises(Lost):
            found(QdrantStore.on_server(server.url, "x", key=server.key))


class TestChoice:
    def test_is_this_process_where_no_server_is_named(self, tmp_path: Path) -> None:
        store = open_store(tmp_path, "embedder", {})
        store.add([point(1, 0)])
        assert found(open_store(tmp_path, "embedder", {"QDRANT_URL": ""})) == []

    def test_gives_each_pool_its_own(self, server: QdrantServer, tmp_path: Path) -> None:
        (tmp_path / "pool").mkdir()
        (tmp_path / "link").symlink_to("pool")
        environment = {"QDRANT_URL": server.url, "QDRANT_API_KEY": "open sesame"}
        for pool, embedder in [("pool", "a"), ("link", "a"), ("pool", "b"), ("elsewhere", "a")]:
            open_store(tmp_path / pool, embedder, environment).add([point(1, 0)])
        assert len(server.collections) == 3

    def test_prefixes_alone_tell_them_apart(self, server: QdrantServer, tmp_path: Path) -> None:
        environment = {"QDRANT_URL": server.url, "QDRANT_API_KEY": "open sesame"}
        for prefix in ("", "red", "blue"):
            named = {**environment, "QDRANT_PREFIX": prefix}
            open_store(tmp_path, "embedder", named).add([point(1, 0)])
        assert {name.partition("-")[0] for name in server.collections} == {"coterie", "red", "blue"}
        assert collection_of(tmp_path, "embedder") in server.collections
        for prefix in ("a/b", "x" * 65, "é"):
            with pytest.raises(InputError, match="QDRANT_PREFIX"):
                open_store(tmp_path, "embedder", {**environment, "QDRANT_PREFIX": prefix})

    @pytest.mark.parametrize(
        "url", ["localhost:6333", "ftp://localhost", "http://", "http://me@localhost", ":memory:"]
    )
    def test_refuses_what_is_no_address(self, url: str, tmp_path: Path) -> None:
        with pytest.raises(InputError, match="is not a server's address"):
            open_store(tmp_path, "embedder", {"QDRANT_URL": url})

    def test_sends_no_key_in_the_clear(self, tmp_path: Path) -> None:
        environment = {"QDRANT_URL": "http://qdrant.example:6333", "QDRANT_API_KEY": "secret"}
        with pytest.raises(InputError, match="unencrypted"):
            open_store(tmp_path, "embedder", environment)
        open_store(tmp_path, "embedder", environment | {"QDRANT_URL": "https://qdrant.example"})
        open_store(tmp_path, "embedder", environment | {"QDRANT_URL": "http://localhost:1"})
