"""What a user of the memory sees: entries found by likeness, whoever wrote them, whatever broke."""

import math
import random
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from coterie.pool import Pool
from coterie.pool.embedding import HashingEmbedder, Vector
from coterie.pool.ledger.learnt import LONGEST_TASK, Learnt
from coterie.pool.memory.memory import VECTORS, Memory, open_memory
from coterie.pool.memory.qdrant import QdrantStore
from coterie.pool.memory.shards import VectorShards
from coterie.pool.memory.store import Labels, Store, VectorPoint
from coterie.schema import InputError, RunError, Task

from ...support.processes import at_once, in_children
from ..qdrant_server import QdrantServer


class Circle:
    """Takes texts that are angles in degrees, and counts them."""

    name = "circle"
    dimension = 2

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.broken = False

    def embed(self, texts: Sequence[str]) -> list[Vector]:
        if self.broken:
            raise RunError("the embedder is out")
        self.asked += texts
        angles = [math.radians(float(text)) for text in texts]
        return [[math.cos(angle), math.sin(angle)] for angle in angles]


def entry(degrees: float, *, kind: str = "a", **fields: Any) -> Learnt:
    return Learnt(kind=kind, task=f"{degrees:g}", text="", **fields)


class Shared:
    """A pool and its memory, opened by somebody."""

    def __init__(self, folder: Path, memory: Callable[[Pool], Memory]) -> None:
        self.pool = Pool.init(folder)
        self._memory = memory(self.pool)
        self.search = self._memory.search

    def learn(self, name: str, degrees: float, **fields: Any) -> bool:
        return self.pool.commit(entry(degrees, **fields), op=name)


class Bench:
    """Opens memories over one pool folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.messages: list[str] = []
        self.circle = Circle()

    def open(self, store: Store | None = None) -> Shared:
        searched = store or VectorShards()
        return Shared(
            self.folder,
            lambda pool: Memory(pool, self.circle, searched, report=self.messages.append),
        )


def test_tasks_with_one_question_are_told_apart_by_their_context(tmp_path: Path) -> None:
    question = "How many are left?"
    apples = Task(id="a", query=question, context="Seven apples lay in a basket.")
    trains = Task(id="t", query=question, context="Nine trains stood at the station.")
    pool = Pool.init(tmp_path)
    for item in (apples, trains):
        pool.commit(Learnt(kind="a", task=item.text, text=""), op=item.id)
    memory = open_memory(pool, embedder="hashing")
    for item in (apples, trains):
        [(result, similarity), _] = memory.search(item.text, 2)
        assert (result.id, similarity) == (item.id, 1)


def test_beyond_its_bound_a_text_does_not_count(tmp_path: Path) -> None:
    pool = Pool.init(tmp_path)
    begun = "apples " * (LONGEST_TASK // 7)
    pool.commit(Learnt(kind="a", task=f"{begun:<{LONGEST_TASK}}trains", text=""), op="a")
    memory = open_memory(pool, embedder="hashing")
    [(_, similarity)] = memory.search(f"{begun:<{LONGEST_TASK}}ships", 1)
    assert similarity == 1


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


def ids(pairs: Sequence[tuple[Learnt, float]]) -> list[str]:
    return [item.id for item, _ in pairs]


class TestSearch:
    def test_gives_the_closest_with_their_similarity(self, bench: Bench) -> None:
        memory = bench.open()
        for name, degrees in [("west", 180), ("north", 90), ("east", 1), ("north east", 60)]:
            assert memory.learn(name, degrees)
        result = memory.search("0", 3)
        assert ids(result) == ["east", "north east", "north"]
        assert [similarity for _, similarity in result] == pytest.approx(
            [math.cos(math.radians(1)), 0.5, 0], abs=1e-6
        )
        assert len(memory.search("0", 99)) == 4
        assert memory.search("0", 0) == []

    def test_of_an_empty_memory_finds_nothing_and_embeds_nothing(self, bench: Bench) -> None:
        assert bench.open().search("0", 3) == []
        assert bench.circle.asked == []

    def test_keeps_to_what_is_asked_for(self, bench: Bench) -> None:
        memory = bench.open()
        memory.learn("1", 10, niche="dates")
        memory.learn("2", 20, niche="dates", kind="b")
        memory.learn("3", 30)
        assert ids(memory.search("0", 9, niche="dates")) == ["1", "2"]
        assert ids(memory.search("0", 9, niche="dates", kind="b")) == ["2"]
        assert ids(memory.search("0", 9, kind="a")) == ["1", "3"]
        memory.learn("4", 40, niche="dates", owner="ada", level="task")
        memory.learn("5", 50, owner="ada", level="subdomain")
        memory.learn("6", 60, owner="ben", level="task")
        assert ids(memory.search("0", 9, owner="ada")) == ["4", "5"]
        assert ids(memory.search("0", 9, level="task")) == ["4", "6"]
        assert ids(memory.search("0", 9, owner="ada", niche="dates", level="task")) == ["4"]
        assert memory.search("0", 9, owner="cleo") == []

    def test_passes_over_what_was_replaced(self, bench: Bench) -> None:
        memory = bench.open()
        for number in range(80):
            memory.learn(f"old-{number:02}", number / 10)
        memory.learn("far", 90)
        memory.learn("new", 30, replaces=tuple(f"old-{number:02}" for number in range(1, 80)))
        assert ids(memory.search("0", 9)) == ["old-00", "new", "far"]
        assert ids(bench.open().search("0", 9)) == ["old-00", "new", "far"]

    def test_sees_as_much_as_it_is_told_to(self, bench: Bench) -> None:
        memory = bench.open()
        memory.learn("a", 30)
        memory.learn("b", 20)
        memory.learn("c", 10, replaces=("a",))
        textses = [ids(memory.search("0", 9, upto=upto)) for upto in range(4)]
        assert textses == [[], ["a"], ["b", "a"], ["c", "b"]]

    @pytest.mark.parametrize("seed", range(5))
    def test_puts_equals_in_the_order_of_their_ids(self, bench: Bench, seed: int) -> None:
        """Also where more are equal than are asked for, in whatever order they came."""
        names = [f"{number:03}" for number in range(90)]
        random.Random(seed).shuffle(names)
        memory = bench.open()
        for name in names:
            memory.learn(name, 40)
        memory.learn("best", 1)
        assert ids(memory.search("0", 4)) == ["best", "000", "001", "002"]

    def test_threads_may_share_a_memory(self, bench: Bench) -> None:
        memory = bench.open()
        failures: list[BaseException] = []

        def work(name: int) -> None:
            try:
                for number in range(5):
                    memory.learn(f"{name}-{number}", name)
                    assert f"{name}-{number}" in ids(memory.search(f"{name}", 5))
            except BaseException as error:  # noqa: BLE001 - a thread's failure is the test's
                failures.append(error)

        at_once(work, range(0, 80, 10))
        assert failures == []
        assert len(memory.pool.learnt) == 40


class TestSharing:
    def test_what_is_learnt_is_found_by_whoever_searches_next(self, bench: Bench) -> None:
        mine, theirs = bench.open(), bench.open()
        mine.learn("a", 10)
        assert ids(theirs.search("0", 9)) == ["a"]
        theirs.learn("b", 5)
        assert ids(mine.search("0", 9)) == ["b", "a"]

    def test_what_is_learnt_is_found_across_processes(self, bench: Bench) -> None:
        memory = bench.open()
        memory.learn("a", 10)
        assert ids(memory.search("0", 9)) == ["a"]
        in_children(lambda _: Pool.open(bench.folder).commit(entry(5), op="b"), [1])
        assert ids(memory.search("0", 9)) == ["b", "a"]


class TestIndex:
    def test_embeds_each_text_once_for_all(self, bench: Bench) -> None:
        memory = bench.open()
        for number in range(300):
            memory.learn(str(number), number % 100)
        memory.search("200", 3)
        memory.search("200", 3)
        assert sorted(bench.circle.asked) == sorted({*map(str, range(100)), "200"})
        bench.circle.asked.clear()
        assert len(bench.open().search("7", 999)) == 300
        assert bench.circle.asked == []

    def test_goes_on_when_the_embedder_was_out(self, bench: Bench) -> None:
        memory = bench.open()
        bench.circle.broken = True
        assert memory.learn("a", 10)
        with pytest.raises(RunError, match="the embedder is out"):
            memory.search("0", 1)
        assert len(memory.pool.learnt) == 1
        bench.circle.broken = False
        assert ids(memory.search("0", 1)) == ["a"]

    def test_is_shared_on_a_server_and_filled_with_what_it_lacks(self, bench: Bench) -> None:
        with QdrantServer() as server:
            first, second = (
                bench.open(QdrantStore.on_server(server.url, "shelf")) for _ in range(2)
            )
            first.learn("a", 10)
            second.learn("b", 20)
            assert ids(first.search("0", 9)) == ["a", "b"] == ids(second.search("0", 9))
            sent = [request.body for request in server.requests if "points?" in request.path]
            assert sum(len(body["batch"]["ids"]) for body in sent) == 2

    def test_passes_over_what_a_server_has_of_other_entries(self, bench: Bench) -> None:
        with QdrantServer() as server:
            store = QdrantStore.on_server(server.url, "shelf")
            strangers = [
                VectorPoint(
                    key=replace(entry(1), id=f"old-{number}").key,
                    vector=[1, 0],
                    labels=Labels(kind="a"),
                )
                for number in range(50)
            ]
            store.add(strangers)
            memory = bench.open(store)
            memory.learn("a", 10)
            assert ids(memory.search("0", 2)) == ["a"]


class TestCache:
    def test_may_be_deleted_at_any_time(self, bench: Bench) -> None:
        memory = bench.open()
        memory.learn("a", 10)
        assert ids(memory.search("0", 9)) == ["a"]
        (bench.folder / VECTORS).unlink()
        assert ids(memory.search("0", 9)) == ["a"]
        assert ids(bench.open().search("0", 9)) == ["a"]
        assert bench.messages == []

    def test_is_none_of_versions_controls_business(self, bench: Bench) -> None:
        memory = bench.open()
        memory.learn("a", 10)
        memory.search("0", 9)
        git = ["git", "-C", str(bench.folder)]
        subprocess.run([*git, "init", "-q"], check=True)
        command = [*git, "status", "--porcelain", "-uall"]
        listed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        assert "ledger.jsonl" in listed
        assert ".cache" not in listed

    @pytest.mark.parametrize(
        "spoil",
        [
            lambda path: path.write_bytes(b"not a database, and long enough to be none" * 99),
            lambda path: path.write_bytes(path.read_bytes()[:4096] + b"\xff" * 20_000),
        ],
    )
    def test_that_is_damaged_is_made_anew(
        self, bench: Bench, spoil: Callable[[Path], object]
    ) -> None:
        memory = bench.open()
        for number in range(9):
            memory.learn(str(number), number)
        memory.search("0", 9)
        spoil(bench.folder / VECTORS)
        assert len(bench.open().search("0", 9)) == 9
        bench.circle.asked.clear()
        assert len(bench.open().search("0", 9)) == 9
        assert bench.circle.asked == []

    def test_that_cannot_be_had_is_done_without_and_said_once(self, bench: Bench) -> None:
        memory = bench.open()
        memory.learn("a", 10)
        (bench.folder / VECTORS).parent.parent.mkdir()
        (bench.folder / VECTORS).parent.write_text("in the way")
        assert ids(memory.search("0", 9)) == ["a"]
        assert ids(memory.search("0", 9)) == ["a"]
        assert len(bench.messages) == 1
        assert "vectors are not cached" in bench.messages[0]


class TestOpenMemory:
    def test_goes_by_names(self, tmp_path: Path) -> None:
        pool = Pool.init(tmp_path)
        memory = open_memory(pool, embedder="hashing", environment={})
        pool.commit(Learnt(kind="a", task="sort a list of numbers", text=""), op="a")
        pool.commit(Learnt(kind="a", task="translate a letter", text=""), op="b")
        assert ids(memory.search("sort the list", 1)) == ["a"]
        assert memory.embedder == HashingEmbedder().name

    def test_uses_the_server_that_the_environment_names(self, tmp_path: Path) -> None:
        with QdrantServer() as server:
            pool = Pool.init(tmp_path)
            memory = open_memory(pool, embedder="hashing", environment={"QDRANT_URL": server.url})
            pool.commit(Learnt(kind="a", task="sort", text=""), op="a")
            memory.search("sort", 1)
            assert [len(points) for points in server.collections.values()] == [1]

    def test_fills_a_server_that_was_emptied_or_has_other_vectors(self, tmp_path: Path) -> None:
        with QdrantServer() as server:
            pool = Pool.init(tmp_path)
            memory = open_memory(pool, embedder="hashing", environment={"QDRANT_URL": server.url})
            for name in "ab":
                pool.commit(Learnt(kind="a", task=f"sort {name}", text=""), op=name)
            assert ids(memory.search("sort a", 2)) == ["a", "b"]
            server.collections.clear()
            server.sizes.clear()
            assert ids(memory.search("sort a", 2)) == ["a", "b"]
            server.sizes = dict.fromkeys(server.sizes, 7)
            again = open_memory(pool, embedder="hashing", environment={"QDRANT_URL": server.url})
            assert ids(again.search("sort a", 2)) == ["a", "b"]
            assert ids(memory.search("sort b", 1)) == ["b"]

    def test_processes_fill_a_server_and_each_entry_is_there_once(self, tmp_path: Path) -> None:
        with QdrantServer() as server:
            pool = Pool.init(tmp_path)
            for number in range(300):
                pool.commit(Learnt(kind="a", task=f"sort {number}", text=""), op=f"{number}")

            def search(_: object) -> None:
                opened = Pool.open(tmp_path)
                at = {"QDRANT_URL": server.url}
                memory = open_memory(opened, embedder="hashing", environment=at)
                assert ids(memory.search("sort 7", 1)) == ["7"]

            in_children(search, range(3))
            [points] = server.collections.values()
            assert len(points) == 300

    def test_knows_no_other_embedder(self, tmp_path: Path) -> None:
        with pytest.raises(InputError, match="no embedder 'fancy'"):
            open_memory(Pool.init(tmp_path), embedder="fancy", environment={})


def test_vectors_of_two_embedders_do_not_meet(bench: Bench) -> None:
    first = bench.open()
    first.learn("a", 10)
    first.search("10", 1)
    second = Memory(first.pool, HashingEmbedder(), VectorShards())
    assert second.search("10", 1)[0][1] == 1


def test_texts_are_as_alike_as_their_vectors(tmp_path: Path) -> None:
    circle = Circle()
    memory = Memory(Pool.init(tmp_path / "pool"), circle, VectorShards())
    result = memory.likeness("0", ["0", "60", "180"])
    assert result == pytest.approx([1.0, 0.5, -1.0])
    circle.asked.clear()
    assert memory.likeness("90", []) == []
    assert circle.asked == []
