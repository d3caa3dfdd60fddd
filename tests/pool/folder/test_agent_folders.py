"""The folders of a pool's agents: what each is and what it has learnt, as text that follows."""

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from coterie.pool import Pool, repair, verify
from coterie.pool.ledger.changes import Restored, Retired, Revised
from coterie.schema.loading.agent_file import load_agent
from coterie.schema.values.errors import StorageError

from ...support.processes import killed_at
from ..ledger.test_lessons import SOLVER, born, lesson


@pytest.fixture
def pool(tmp_path: Path) -> Pool:
    pool = Pool.init(tmp_path / "town")
    for name in ("ada", "ben"):
        pool.commit(born(name), op=name)
    learnt = lesson("Count\nthe units.", "ada", task="How many?", niche="sums", case="t1", turn=2)
    pool.commit(learnt, op="1")
    pool.commit(lesson("Check zero.", "ada", "ben", task="Or none?", giver="cleo"), op="2")
    return pool


def archive(pool: Pool, name: str) -> Path:
    return pool.folder / "agents" / name / "lessons.jsonl"


def ids(pool: Pool, name: str) -> list[str]:
    lines = archive(pool, name).read_text().splitlines()
    return [json.loads(line)["id"] for line in lines]


# What they say


def test_a_folder_has_the_agent_and_what_it_has_learnt(pool: Pool) -> None:
    assert archive(pool, "ada").read_text() == (
        '{"id": "1", "kind": "lesson", "niche": "sums", "case": "t1", "turn": 2,'
        ' "text": "Count\\nthe units."}\n'
        '{"id": "2", "kind": "lesson", "giver": "cleo", "task": "Or none?",'
        ' "text": "Check zero."}\n'
    )
    assert ids(pool, "ben") == ["2"]
    result = load_agent(archive(pool, "ada").parent)
    assert result.agent == replace(SOLVER, id="ada")
    assert load_agent(archive(pool, "ada").with_name("agent.yaml")) == result
    assert verify(pool.folder).faults == verify(pool.folder).notes == ()


def test_lines_are_only_added_also_where_one_replaces_another(pool: Pool) -> None:
    before = archive(pool, "ada").read_bytes()
    pool.commit(lesson("Both.", "ada", task="x", replaces=("1", "2")), op="3")
    after = archive(pool, "ada").read_bytes()
    assert after.startswith(before)
    assert b'"replaces": ["1", "2"]' in after.removeprefix(before)
    assert ids(pool, "ben") == ["2"]


def test_what_is_inherited_is_told_in_a_line_and_not_copied(pool: Pool) -> None:
    pool.commit(born("cleo", "ada", "ben"), op="cleo")
    text = archive(pool, "cleo").with_name("agent.yaml").read_text()
    assert (
        "# Its archive begins with what ada and ben could recall when this agent was born.\n"
        in text
    )
    assert not archive(pool, "cleo").exists()
    assert len(pool.learnt.archive("cleo")) == 2
    pool.commit(Revised(agent="cleo", to=replace(SOLVER, prompt="Solve it twice.")), op="again")
    assert archive(pool, "cleo").with_name("agent.yaml").read_text() == text
    assert archive(pool, "cleo").with_name("prompt.md").read_text() == "Solve it twice.\n"
    assert load_agent(archive(pool, "cleo").parent).agent.prompt == "Solve it twice."


def test_who_was_retired_keeps_its_folder(pool: Pool) -> None:
    pool.commit(Retired(member="ben", reason="too weak"), op="retire")
    pool.commit(lesson("After all.", "ben", task="x"), op="3")
    assert ids(pool, "ben") == ["2", "3"]
    assert Pool.open(pool.folder).remove_orphans() == []
    pool.commit(Restored(member="ben"), op="restore")
    assert ids(Pool.open(pool.folder), "ben") == ["2", "3"]


def test_who_is_no_agent_of_the_pool_has_no_folder_until_it_is(pool: Pool) -> None:
    pool.commit(lesson("Early.", "dot", task="x"), op="3")
    assert not archive(pool, "dot").parent.exists()
    pool.commit(born("dot"), op="dot")
    assert ids(pool, "dot") == ["3"]


def test_processes_may_learn_in_turns(pool: Pool) -> None:
    other = Pool.open(pool.folder)
    for number in range(3, 9):
        item = pool if number % 2 else other
        item.commit(lesson("x", "ada", task=f"{number}"), op=f"{number}")
    assert ids(pool, "ada") == [f"{number}" for number in range(1, 9)]
    assert verify(pool.folder).faults == verify(pool.folder).notes == ()


def test_an_operation_counts_once_in_the_files_too(pool: Pool) -> None:
    before = archive(pool, "ada").read_bytes()
    assert not pool.commit(lesson("Check zero.", "ada", task="Or none?"), op="2")
    assert archive(pool, "ada").read_bytes() == before


# What a crash leaves, and what it does not


@pytest.mark.parametrize("cut", [0, 1, -1])
def test_a_file_that_ends_too_early_is_brought_up(cut: int, pool: Pool) -> None:
    whole = archive(pool, "ada").read_bytes()
    at = whole.index(b"\n") + cut if cut >= 0 else -9
    archive(pool, "ada").write_bytes(whole[:at])
    archive(pool, "ben").unlink()
    notes = verify(pool.folder).notes
    assert [
        ("ada" in note, "The next process to open the pool updates it" in note) for note in notes
    ] == [
        (True, True),
        (False, True),
    ]
    assert verify(pool.folder).faults == ()
    Pool.open(pool.folder)
    assert (archive(pool, "ada").read_bytes(), ids(pool, "ben")) == (whole, ["2"])


@pytest.mark.parametrize("moment", ["files.append.written:1", "files.append.after:1"])
def test_a_killed_process_leaves_files_that_are_brought_up(moment: str, pool: Pool) -> None:
    change = lesson("Late.", "ada", "ben", task="x")
    assert killed_at(moment, lambda: pool.commit(change, op="3"))
    assert (ids(pool, "ada"), ids(pool, "ben")) == (["1", "2"], ["2"])
    pool.commit(lesson("Later.", "ada", task="y"), op="4")  # who was there all the time
    assert ids(pool, "ada") == ["1", "2", "3", "4"]
    assert ids(Pool.open(pool.folder), "ben") == ["2", "3"]


@pytest.mark.parametrize(
    "spoil",
    [
        lambda text: text.replace("zero", "null"),
        lambda text: text + "{}\n",
        lambda text: text.splitlines(keepends=True)[-1].replace("2", "3", 1) + text,
    ],
)
def test_any_other_difference_is_damage(spoil: Callable[[str], str], pool: Pool) -> None:
    text = archive(pool, "ada").read_text()
    archive(pool, "ada").write_text(spoil(text))
    [fault] = verify(pool.folder).faults
    assert "ada/lessons.jsonl: its lessons differ from the ledger's" in fault
    [done] = repair(pool.folder)
    assert "ada/lessons.jsonl: was restored" in done
    assert archive(pool, "ada").read_text() == text
    assert verify(pool.folder).faults == ()


def test_lines_that_a_merge_left_in_another_order_or_twice_are_put_right(pool: Pool) -> None:
    text = archive(pool, "ada").read_text()
    first, last = text.splitlines(keepends=True)
    for merged in (last + first, first + last + first):
        archive(pool, "ada").write_text(merged)
        assert verify(pool.folder).faults == ()
        assert Pool.open(pool.folder).agents.keys() == {"ada", "ben"}
        assert archive(pool, "ada").read_text() == text


def test_a_file_with_another_end_keeps_the_pool_from_opening(pool: Pool) -> None:
    with archive(pool, "ada").open("a") as stream:
        stream.write("{}\n")
    with pytest.raises(StorageError, match=r"ada/lessons\.jsonl: its lessons differ .* --repair"):
        Pool.open(pool.folder)
    pool.commit(Retired(member="ada", reason=""), op="retire")
    assert list(Pool.open(pool.folder).agents) == ["ben"]
    assert (verify(pool.folder).faults, len(verify(pool.folder).notes)) == ((), 1)


def test_a_file_that_cannot_be_read_or_written_is_named(pool: Pool) -> None:
    archive(pool, "ada").unlink()
    archive(pool, "ada").mkdir()
    for use in (
        lambda: pool.commit(lesson("x", "ada", task="x"), op="3"),
        lambda: Pool.open(pool.folder),
    ):
        with pytest.raises(StorageError, match=r"ada/lessons\.jsonl: cannot be read"):
            use()
    assert "3" in pool.learnt
    archive(pool, "ada").rmdir()
    assert ids(Pool.open(pool.folder), "ada") == ["1", "2", "3"]


def test_a_folder_that_is_lost_is_written_anew_by_the_next_to_open(pool: Pool) -> None:
    shutil.rmtree(archive(pool, "ada").parent)
    with pytest.raises(StorageError, match=r"ada/lessons\.jsonl: cannot be written"):
        pool.commit(lesson("x", "ada", task="x"), op="3")
    assert ids(Pool.open(pool.folder), "ada") == ["1", "2", "3"]
    assert load_agent(archive(pool, "ada").parent).agent == replace(SOLVER, id="ada")


def test_what_else_lies_in_a_folder_belongs_to_nobody(pool: Pool) -> None:
    (archive(pool, "ada").parent / "draft.txt").write_text("x")
    (pool.folder / "agents" / "dot" / "skills").mkdir(parents=True)
    (pool.folder / "agents" / "dot" / "skills" / "x.md").write_text("x")
    strays = ["agents/ada/draft.txt", "agents/dot/skills/x.md"]
    assert pool.remove_orphans(dry_run=True) == strays == pool.remove_orphans()
    assert sorted(path.name for path in (pool.folder / "agents").iterdir()) == ["ada", "ben"]
    assert len(list(archive(pool, "ada").parent.iterdir())) == 3
