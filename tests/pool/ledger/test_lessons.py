"""Archives: whose an entry is, who inherits it, and for whom it was replaced."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coterie.pool import Pool, repair, verify
from coterie.pool.ledger.changes import Added, Change
from coterie.pool.ledger.learnt import Learnt
from coterie.pool.ledger.lessons import Lessons
from coterie.pool.ledger.shape import misshapen
from coterie.pool.memory.memory import open_memory
from coterie.pool.view import PoolView, Views, op
from coterie.schema import Agent, InputError, Lineage
from coterie.schema.values.errors import StorageError

from ..edited_teams import vote

SOLVER = Agent(id="solver", prompt="Solve it.")


def born(name: str, *inherits: str) -> Added:
    operator = ("genesis", "fork", "merge")[min(2, len(inherits))]
    lineage = Lineage(operator=operator, parents=inherits)
    return Added(member=SOLVER, lineage=lineage, name=name, inherits=inherits)


def lesson(text: str, *owners: str, **fields: Any) -> Learnt:
    whose: dict[str, Any] = {"owner": owners[0]} if len(owners) == 1 else {"to": owners}
    known: dict[str, Any] = {"kind": "lesson", "task": text, **fields, "text": text}
    return Learnt(**known, **whose)


def archives(view: PoolView) -> dict[str, list[str]]:
    """What each agent has, found in both ways."""
    there = {name: [item.id for item in view.archive(name)] for name in view.agents}
    for name, ids in there.items():
        assert sorted(item.id for item, _ in view.search("a b c", 99, owner=name)) == sorted(ids)
    return there


@pytest.fixture
def pool(tmp_path: Path) -> Pool:
    return Pool.init(tmp_path / "pool")


def views_of(pool: Pool) -> Views:
    return Views(Pool.open(pool.folder), "evo", open_memory(pool, embedder="hashing"))


# By reference as by copying

Happening = tuple[str, Any]


@st.composite
def histories(draw: st.DrawFn) -> Sequence[Happening]:
    """Births, forks, merges, and what was learnt by whom, in whose place."""
    agents, ids = ["a0", "a1"], list[str]()
    history: list[Happening] = [("born", ("a0", ())), ("born", ("a1", ()))]
    for number in range(draw(st.integers(0, 20))):
        if draw(st.integers(0, 3)) == 0:
            heir = f"b{number}"
            inherits = draw(st.lists(st.sampled_from(agents), max_size=2, unique=True))
            history.append(("born", (heir, tuple(inherits))))
            agents.append(heir)
        else:
            owners = draw(st.lists(st.sampled_from(agents), max_size=3, unique=True))
            old = draw(st.lists(st.sampled_from(ids), max_size=2, unique=True)) if ids else []
            ids.append(f"{number}")
            history.append(("learnt", lesson("x", *owners, id=f"{number}", replaces=tuple(old))))
    return history


class Copies:
    """Whoever is born copies all that it inherits; what is replaced is crossed out."""

    def __init__(self) -> None:
        self.of: dict[str | None, list[str]] = {None: []}

    def happen(self, kind: str, what: Any) -> None:
        if kind == "born":
            name, inherits = what
            copied = {word: None for parent in inherits for word in self.of[parent]}
            self.of[name] = sorted(copied, key=int)
            return
        owners = what.owners or (None,)
        for item in owners if what.owners else [*self.of]:
            self.of[item] = [each for each in self.of[item] if each not in what.replaces]
        for item in owners:
            self.of[item].append(what.id)


@given(histories())
def test_an_archive_by_reference_is_as_copying_makes_it(history: Sequence[Happening]) -> None:
    lessons, copies = Lessons(), Copies()
    snapshots: list[tuple[int, dict[str | None, list[str]]]] = []
    for kind, what in history:
        copies.happen(kind, what)
        if kind == "born":
            lessons.bear(*what)
        else:
            lessons.take(what)
        snapshots.append((len(lessons), {**copies.of}))
    for seen, archive in snapshots:
        for owner, ids in archive.items():
            if owner is not None:
                assert [item.id for item in lessons.archive(owner, seen)] == ids
                standing = [item for item in lessons if lessons.stands(item, seen, owner=owner)]
                assert standing == ids
        anybodys = {name for ids in archive.values() for name in ids}
        assert {item for item in lessons if lessons.stands(item, seen)} == anybodys


# In a pool


def test_an_heir_begins_with_what_there_was_and_goes_its_own_way(pool: Pool) -> None:
    pool.commit(born("ada"), op="ada")
    pool.commit(lesson("a b", "ada"), op="1")
    pool.commit(born("ben", "ada"), op=op("evo", 0, "fork"))
    pool.commit(lesson("a c", "ada"), op=op("evo", 0, "2"))
    pool.commit(lesson("b c", "ben", replaces=("1",)), op=op("evo", 1, "3"))
    views = views_of(pool)
    assert archives(views.upto(-1)) == {"ada": ["1"]}
    two, three = op("evo", 0, "2"), op("evo", 1, "3")
    assert archives(views.upto(0)) == {"ada": ["1", two], "ben": ["1"]}
    last = views.upto(1)
    assert archives(last) == {"ada": ["1", two], "ben": [three]}
    assert [item.id for item in last.learnt] == ["1", two, three]
    lines = (pool.folder / "ledger.jsonl").read_text().splitlines()
    assert sum("a b" in line for line in lines) == 1
    assert pool.agent("ben").inherits == ("ada",)
    assert all(list(misshapen(entry.value)) == [] for entry in pool.entries())


def test_one_line_is_several_agents_own(pool: Pool) -> None:
    for name in ("ada", "ben", "cleo"):
        pool.commit(born(name), op=name)
    pool.commit(lesson("a b", "ada", "ben", giver="cleo"), op="1")
    pool.commit(born("dot", "ben", "cleo"), op="dot")
    pool.commit(lesson("a c", "ben", replaces=("1",)), op="2")
    view = views_of(pool).upto(0)
    assert archives(view) == {"ada": ["1"], "ben": ["2"], "cleo": [], "dot": ["1"]}
    assert pool.learnt.origin("1", "dot") == "ben"
    assert pool.learnt["1"].owners == ("ada", "ben")
    pool.commit(lesson("b c", "ada", "dot", replaces=("1",)), op="3")
    assert not pool.learnt.stands("1")
    assert [item.id for item in view.learnt] == ["1", "2"]


def test_what_replaces_for_everybody_is_everybodys(pool: Pool) -> None:
    pool.commit(born("ada"), op="ada")
    pool.commit(lesson("a"), op="1")
    pool.commit(lesson("a b", "ada", replaces=("1",)), op="2")
    assert pool.learnt.stands("1")
    pool.commit(lesson("a b c", replaces=("1", "2")), op="3")
    assert [item for item in pool.learnt if pool.learnt.stands(item)] == ["3"]


def test_texts_that_say_nearly_the_same_are_found_in_an_archive(pool: Pool) -> None:
    pool.commit(born("ada"), op="ada")
    assert views_of(pool).upto(0).alike("x", "ada", over=0) == []
    pool.commit(lesson("Check the units first.", "ada", task="one", niche="sums"), op="1")
    pool.commit(lesson("Read the question twice.", "ada", task="two", kind="insight"), op="2")
    pool.commit(born("ben", "ada"), op="ben")
    pool.commit(lesson("Check the units, first.", "ben", task="three", niche="dates"), op="3")
    view = views_of(pool).upto(0)
    word = "Check the units first."
    assert [(item.id, like) for item, like in view.alike(word, "ben", over=0.9)] == [
        ("1", 1),
        ("3", 1),
    ]
    assert [item.id for item, _ in view.alike(word, "ada", over=0.9)] == ["1"]
    assert [item.id for item, _ in view.alike(word, "ben", niche="dates", over=0.9)] == ["3"]
    assert view.alike(word, "ben", kind="insight", over=0.9) == []
    assert [item.id for item, _ in view.alike(word, "ben", over=-1.1)] == ["1", "3", "2"]
    assert view.alike(word, "ben", over=1) == []
    assert view.alike(word, "nobody", over=0) == []
    pool.commit(lesson("Check units first.", "ben", replaces=("1", "3")), op="4")
    assert [item.id for item, _ in views_of(pool).upto(0).alike(word, "ben", over=0.5)] == ["4"]
    assert len(view.alike(word, "ben", over=0.9)) == 2


def test_texts_are_embedded_once(pool: Pool, monkeypatch: pytest.MonkeyPatch) -> None:
    from coterie.pool.embedding import HashingEmbedder

    asked: list[str] = []
    embed = HashingEmbedder.embed

    def counting(self: HashingEmbedder, texts: Sequence[str]) -> Any:
        asked.extend(texts)
        return embed(self, texts)

    monkeypatch.setattr(HashingEmbedder, "embed", counting)
    pool.commit(born("ada"), op="ada")
    pool.commit(lesson("Check the units.", "ada", task="one"), op="1")
    for _ in range(2):
        view = views_of(pool).upto(0)
        for _ in range(2):
            view.alike("Check the sum.", "ada", over=0.1)
    assert sorted(asked) == ["Check the sum.", "Check the units."]


# What is refused


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lesson("x", "ada", "stranger"), "no agent 'stranger'"),
        (Learnt(kind="lesson", task="x", text="x", to=("vote",)), "no agent 'vote'"),
        (Learnt(kind="lesson", task="x", text="x", to=("ada", "ada")), "entry.to"),
        (
            Learnt(kind="lesson", task="x", text="x", owner="ben", to=("ada",)),
            "owner 'ben', but to names 'ada'",
        ),
        (born("heir", "stranger"), "no agent 'stranger'"),
        (
            Added(member=vote("A.", "B."), lineage=Lineage(operator="x"), inherits=("ada",)),
            "the team 'vote' cannot inherit",
        ),
    ],
)
def test_who_is_not_there_is_given_nothing(change: Change, message: str, pool: Pool) -> None:
    pool.commit(born("ada"), op="ada")
    pool.commit(Added(member=vote(), lineage=Lineage(operator="seed")), op="vote")
    before = (pool.folder / "ledger.jsonl").read_bytes()
    with pytest.raises(InputError, match=message):
        pool.commit(change, op="one")
    assert (pool.folder / "ledger.jsonl").read_bytes() == before


def spoiled(*values: dict[str, Any]) -> Callable[[Pool], None]:
    def append(pool: Pool) -> None:
        from coterie.pool.ledger.ledger import Ledger

        for number, value in enumerate(values):
            Ledger(pool.folder / "ledger.jsonl").append(value, op=f"spoiled {number}")

    return append


ENTRY = {"kind": "lesson", "task": "x", "text": "x"}


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (
            spoiled({"kind": "learnt", "entry": {**ENTRY, "to": ["stranger"]}}),
            "no agent 'stranger'",
        ),
        (
            spoiled({"kind": "learnt", "entry": {**ENTRY, "to": ["ada"], "owner": "ada"}}),
            "Name all agents under to",
        ),
        (
            spoiled(
                {
                    "kind": "born",
                    "agent": "heir",
                    "value": {"prompt": "Solve."},
                    "lineage": {"operator": "fork"},
                    "inherits": ["stranger"],
                }
            ),
            "no agent 'stranger'",
        ),
    ],
)
def test_a_line_that_names_nobody_is_damage_and_left_out_by_repair(
    spoil: Callable[[Pool], None], message: str, pool: Pool
) -> None:
    pool.commit(born("ada"), op="ada")
    spoil(pool)
    with pytest.raises(StorageError, match=message):
        Pool.open(pool.folder)
    assert verify(pool.folder).faults
    repair(pool.folder)
    assert list(Pool.open(pool.folder).agents) == ["ada"]
    assert not Pool.open(pool.folder).learnt
