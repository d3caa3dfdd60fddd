"""A pool of the first format becomes one of today's, once, whatever happens meanwhile."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coterie.pool import Pool
from coterie.pool.changes import Tried
from coterie.pool.convert import OLD_FILE, convert
from coterie.pool.learnt import Learnt, OperatorOutcome
from coterie.pool.ledger import Ledger, line_of
from coterie.pool.upkeep import repair, verify
from coterie.pool.view import Views, op
from coterie.schema.errors import InputError, StorageError

from ..support.processes import killed_at
from .teams import child_of, pool_of, scored, vote

HASH = "0123456789abcdef" * 4
FULL: dict[str, Any] = {
    "v": 1,
    "id": "consolidate/dates-7/0123",
    "kind": "evolution",
    "task": "Write October 23, 1983\nas an ISO date.",
    "summary": "Examples in the prompt helped; votes did not.",
    "niche": "dates",
    "team": HASH,
    "operators": [{"operator": "mutate", "component": "prompts", "team": HASH, "reward": 0.8}],
    "reward": -0.25,
    "provenance": {"run": "20261121T070000Z-debate-dates", "config": "evomas.yaml"},
}


def brief(name: str, task: str = "t") -> dict[str, Any]:
    return {"v": 1, "id": name, "kind": "evolution", "task": task, "summary": f"of {name}"}


def outdated(folder: Path, *entries: Any, evolution: int = 0) -> Path:
    """A pool as the first version made it: with a child, scores, and a file of its own."""
    pool = pool_of(folder, vote())
    child_of(pool, "vote", max_tokens=9)
    scored(pool, "vote", 0.5, niche="sums")
    for episode in range(evolution):
        scored_as(pool, op("evomas", episode, "trial 0"))
    path = folder / "ledger.jsonl"
    first, *rest = path.read_bytes().splitlines(keepends=True)
    assert first == line_of({"kind": "pool", "v": 2}, "pool")
    path.write_bytes(b"".join([line_of({"kind": "pool", "v": 1}, "pool"), *rest]))
    (folder / "memory").mkdir()
    lines = [one if isinstance(one, str) else json.dumps(one) for one in entries]
    (folder / OLD_FILE).write_text("".join(f"{line}\n" for line in lines))
    return folder


def scored_as(pool: Pool, operation: str) -> None:
    from coterie.pool.statistics import Trial

    pool.commit(Tried(member="vote", trial=Trial(task=operation, score=1.0)), op=operation)


def ledger(folder: Path) -> list[bytes]:
    return (folder / "ledger.jsonl").read_bytes().splitlines(keepends=True)


def test_what_was_learnt_becomes_lines_and_the_others_stay(tmp_path: Path) -> None:
    folder = outdated(tmp_path, FULL)
    before = ledger(folder)
    came = convert(folder)
    assert came.learnt == 1
    after = ledger(folder)
    assert [one for one in after[1:] if b'"learnt"' not in one] == before[1:]
    pool = Pool.open(folder)
    assert pool.learnt["consolidate/dates-7/0123"] == Learnt(
        id="consolidate/dates-7/0123",
        kind="evolution",
        task="Write October 23, 1983\nas an ISO date.",
        text="Examples in the prompt helped; votes did not.",
        niche="dates",
        team=HASH,
        operators=(OperatorOutcome(operator="mutate", component="prompts", team=HASH, reward=0.8),),
        reward=-0.25,
        run="20261121T070000Z-debate-dates",
    )
    assert list(pool.members) == ["vote", "vote_1"]
    assert pool.members["vote"].statistics.score == 0.5
    assert verify(folder).faults == ()


def test_the_old_file_is_kept_under_another_name_and_told(tmp_path: Path) -> None:
    folder = outdated(tmp_path, FULL)
    text = (folder / OLD_FILE).read_text()
    [note] = convert(folder).notes
    assert not (folder / OLD_FILE).exists()
    kept = folder / f"{OLD_FILE}.converted"
    assert kept.read_text() == text
    assert str(kept) in note


def test_a_pool_that_learnt_nothing_is_converted_too(tmp_path: Path) -> None:
    folder = outdated(tmp_path)
    shutil.rmtree(folder / "memory")
    assert (convert(folder).learnt, convert(folder).notes) == (0, ())
    assert list(Pool.open(folder).members) == ["vote", "vote_1"]


def test_each_entry_stands_where_its_episode_learnt_it(tmp_path: Path) -> None:
    """So that an evolution that is gone on with sees what it saw."""
    names = [op("evomas", episode, "learnt") for episode in range(4)]
    entries = [brief("first"), *map(brief, names[:2]), brief("by hand"), *map(brief, names[2:])]
    folder = outdated(tmp_path, *entries, evolution=4)
    convert(folder)
    ops = [entry.op for entry in Ledger(folder / "ledger.jsonl").read()]
    assert ops[:2] == ["pool", "first"]
    assert ops[-9:] == [
        *(op("evomas", 0, "trial 0"), names[0], op("evomas", 1, "trial 0"), names[1], "by hand"),
        *(op("evomas", 2, "trial 0"), names[2], op("evomas", 3, "trial 0"), names[3]),
    ]
    views = Views(Pool.open(folder), "evomas")
    assert [one.id for one in views.upto(1).learnt] == ["first", *names[:2], "by hand"]


def test_converting_again_changes_nothing(tmp_path: Path) -> None:
    folder = outdated(tmp_path, FULL, brief("two"))
    assert convert(folder).learnt == 2
    after = ledger(folder)
    assert (convert(folder).learnt, ledger(folder)) == (0, after)


MOMENTS = [
    *("files.write.before:1", "files.write.flushed:1", "files.write.replaced:1"),
    *("files.sync.before:1", "files.sync.before:2", "files.sync.before:3"),
]


@pytest.mark.parametrize("moment", MOMENTS)
def test_killed_at_any_point_the_pool_is_either_or(moment: str, tmp_path: Path) -> None:
    folder = outdated(tmp_path / "pool", FULL, brief("two"))
    whole = outdated(tmp_path / "whole", FULL, brief("two"))
    convert(whole)
    before = ledger(folder)
    assert killed_at(moment, lambda: convert(folder))
    assert ledger(folder) in (before, ledger(whole))
    if ledger(folder) == before:
        with pytest.raises(InputError, match="mas-pool convert"):
            Pool.open(folder)
    else:
        assert len(Pool.open(folder).learnt) == 2
    convert(folder)
    assert ledger(folder) == ledger(whole)
    assert not (folder / OLD_FILE).exists()


@pytest.mark.parametrize("look", [Pool.open, verify, repair], ids=["open", "verify", "repair"])
def test_until_then_everybody_says_what_to_do(look: Any, tmp_path: Path) -> None:
    folder = outdated(tmp_path, FULL)
    before = ledger(folder)
    with pytest.raises(InputError, match=f"Convert it, once: mas-pool convert {folder}"):
        look(folder)
    assert ledger(folder) == before


def test_lines_that_are_no_entries_are_told_and_kept(tmp_path: Path) -> None:
    odd = ["not an entry", "[1]", json.dumps({**FULL, "team": "abc"}), "[" * 100_000, ""]
    folder = outdated(tmp_path, brief("a"), *odd, brief("a"), brief("b"))
    came = convert(folder)
    assert came.learnt == 2
    told = [note.partition(": ")[0] for note in came.notes if "passed over" in note]
    assert told == [f"{folder / OLD_FILE}:{number}" for number in (2, 3, 4, 5, 7)]
    assert "not an entry" in (folder / f"{OLD_FILE}.converted").read_text()


def test_an_id_that_an_operation_has_is_kept_apart(tmp_path: Path) -> None:
    folder = outdated(tmp_path, brief("seed/vote"))
    assert convert(folder).learnt == 1
    assert list(Pool.open(folder).learnt) == ["learnt/seed/vote"]
    shutil.copy(folder / f"{OLD_FILE}.converted", folder / OLD_FILE)
    assert convert(folder).learnt == 0


def test_a_folder_that_is_no_pool_is_not_converted(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no pool in"):
        convert(tmp_path)


def test_a_damaged_ledger_is_not_converted(tmp_path: Path) -> None:
    folder = outdated(tmp_path, FULL, evolution=1)
    path = folder / "ledger.jsonl"
    path.write_bytes(path.read_bytes().replace(b'"score": 0.5', b'"score": 0.7'))
    before = ledger(folder)
    with pytest.raises(StorageError, match="does not match its checksum"):
        convert(folder)
    assert ledger(folder) == before


names = st.sampled_from(["a", "b", "evomas/000000/learnt", "evomas/000002/learnt", "x/y"])


@given(st.lists(names, max_size=8))
def test_each_id_is_learnt_once(tmp_path_factory: pytest.TempPathFactory, ids: list[str]) -> None:
    folder = outdated(tmp_path_factory.mktemp("pool"), *map(brief, ids), evolution=2)
    convert(folder)
    learnt = Pool.open(folder).learnt
    assert sorted(learnt) == sorted(set(ids))
    assert all(one.text == f"of {one.id}" for one in learnt.values())
