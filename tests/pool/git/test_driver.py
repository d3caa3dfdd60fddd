"""git merges the files of a pool with our driver, where a clone was set up for it."""

import json
import os
from pathlib import Path

import pytest

from coterie.pool import Pool, verify
from coterie.pool.command import main as mas_pool
from coterie.pool.git.driver import DRIVER, merge_file
from coterie.pool.ledger.changes import Learnt, Revised
from coterie.schema import Agent, InputError
from coterie.schema.values.errors import StorageError

from ...support.commands import invoked
from ...support.repositories import Repo
from ..edited_teams import child_of, tried
from ..histories import begun


def repository(folder: Path, pool: str = ".") -> Repo:
    """A repository with a pool in it, set up for the driver."""
    repo = Repo(folder, pool)
    begun(repo.pool)
    repo.commit("begun")
    assert DRIVER in invoked(mas_pool, ["git", str(repo.pool)], "mas-pool").ended(0).out
    return repo


def branch(repo: Repo, name: str, score: float | None = None) -> None:
    """Let a pool go on on a branch; with a score, as other branches do under the same name."""
    repo.git("checkout", "-q", "-b", name, "main")
    pool = Pool.open(repo.pool)
    if score is not None:
        pool.commit(tried("vote", "t", score), op="town/000009/trial")
        repo.commit(name)
        return
    child_of(pool, "vote", op=f"{name}/child", prompt=f"As {name} says.")
    to = Agent(id="clerk", prompt=f"Count as {name}.")
    pool.commit(Revised(agent="clerk", to=to), op=f"{name}/revised")
    pool.commit(Learnt(kind="lesson", task="x", text=name, owner="clerk"), op=f"{name}/taught")
    repo.commit(name)


@pytest.mark.parametrize("pool", [pytest.param(".", marks=pytest.mark.nightly), "a pool/in here"])
def test_both_ways_of_merging_come_to_one_ledger(pool: str, tmp_path: Path) -> None:
    (tmp_path / "repository").mkdir()
    repo = repository(tmp_path / "repository", pool)
    for name in ("ann", "ben"):
        branch(repo, name)
    blocks: list[bytes] = []
    for word, other in (("ann", "ben"), ("ben", "ann")):
        repo.git("checkout", "-q", "-b", f"{word}-{other}", word)
        repo.git("merge", "-q", "--no-edit", other)
        merged = Pool.open(repo.pool)
        assert len(merged.agent("clerk").revisions) == 3
        assert [len(item.text) for item in merged.learnt.values()] == [3, 3]
        assert verify(repo.pool).faults == verify(repo.pool).notes == ()
        blocks.append((repo.pool / "ledger.jsonl").read_bytes())
        repo.commit("what opening it has brought up")
    assert blocks[0] == blocks[1]


def test_setting_up_again_changes_nothing(tmp_path: Path) -> None:
    repo = repository(tmp_path / "repository")
    attributes = repo.folder / ".git/info/attributes"
    before = attributes.read_text()
    assert invoked(mas_pool, ["git", str(repo.pool)], "mas-pool").code == 0
    assert attributes.read_text() == before
    attributes.write_text("* text")
    assert invoked(mas_pool, ["git", str(repo.pool)], "mas-pool").code == 0
    assert attributes.read_text() == f"* text\n{before}"
    assert repo.git("check-attr", "merge", "ledger.jsonl").endswith(": coterie\n")


def test_attributes_that_are_there_stay_in_whatever_encoding(tmp_path: Path) -> None:
    repo = repository(tmp_path / "repository", "café")
    attributes = repo.folder / ".git" / "info" / "attributes"
    there = attributes.read_bytes()
    attributes.write_bytes(b"# caf\xe9")
    for _ in range(2):
        assert invoked(mas_pool, ["git", str(repo.pool)], "mas-pool").ended(0).err == ""
        assert attributes.read_bytes() == b"# caf\xe9\n" + there


def test_what_contradicts_stops_the_merge_and_our_side_stays(tmp_path: Path) -> None:
    repo = repository(tmp_path / "repository")
    for score, name in enumerate(("ann", "ben")):
        branch(repo, name, score)
    before = (repo.pool / "ledger.jsonl").read_bytes()
    repo.git("merge", "-q", "--no-edit", "ann", code=1)
    assert (repo.pool / "ledger.jsonl").read_bytes() == before
    repo.git("merge", "--abort")
    assert not verify(repo.pool).faults
    assert Pool.open(repo.pool).member("vote").statistics.n == 2


def test_the_message_names_both_and_the_way_back(tmp_path: Path) -> None:
    ledgers: list[Path] = []
    for score, name in enumerate(("ours", "theirs")):
        pool = begun(tmp_path / name)
        pool.commit(tried("vote", "t", score), op="town/000009/trial")
        ledgers.append(pool.folder / "ledger.jsonl")
    words = ["merge", "--driver", os.devnull, *map(str, ledgers), "in/ledger.jsonl"]
    result = invoked(mas_pool, words, "mas-pool").ended(2)
    assert "'town/000009/trial' differs between in/ledger.jsonl (ours)" in result.err
    assert "in/ledger.jsonl (theirs)" in result.err
    assert "git merge --abort" in result.err


def test_notes_are_told_beside_the_result(tmp_path: Path) -> None:
    repo = repository(tmp_path / "repository")
    for name in ("ann", "ben"):
        branch(repo, name)
    theirs = tmp_path / "theirs"
    theirs.write_text(repo.git("show", "ann:ledger.jsonl"))
    words = ["merge", "--driver", os.devnull, str(repo.pool / "ledger.jsonl"), str(theirs)]
    result = invoked(mas_pool, [*words, "ledger.jsonl"], "mas-pool")
    assert (result.code, result.out) == (0, "")
    assert "ledger.jsonl: both sides revised the agent 'clerk'" in result.err


def two_files(folder: Path, first: str, other: str) -> tuple[Path, Path]:
    (folder / "base").touch()
    for name, text in (("ours", first), ("theirs", other)):
        (folder / name).write_text(text)
    return folder / "ours", folder / "theirs"


def test_of_files_that_follow_the_ledger_what_both_have_is_kept(tmp_path: Path) -> None:
    ours, theirs = two_files(tmp_path, "1\n2\n", "1\n3\n")
    merge_file(tmp_path / "base", ours, theirs, "pool/agents/ada/lessons.jsonl")
    assert ours.read_text() == "1\n"
    ours, theirs = two_files(tmp_path, "Count.", "Count on.")
    merge_file(tmp_path / "base", ours, theirs, "pool/agents/ada/prompt.md")
    assert ours.read_text() == "Count."


def test_an_evolution_is_merged_by_its_tasks(tmp_path: Path) -> None:
    manifest = {"v": 3, "recipe": {}, "tasks": {"a": "1"}, "coterie": ["1"]}
    longer = {**manifest, "tasks": {"a": "1", "b": "2"}, "commands": ["y"]}
    ours, theirs = two_files(
        tmp_path, json.dumps({**manifest, "commands": ["x"]}), json.dumps(longer)
    )
    merge_file(tmp_path / "base", ours, theirs, "evolutions/town/evolution.json")
    assert json.loads(ours.read_text()) == {**longer, "commands": ["y", "x"]}
    ledger = begun(tmp_path / "pool").folder / "ledger.jsonl"
    ours.write_bytes(b"".join(ledger.read_bytes().splitlines(keepends=True)[:-1]))
    assert merge_file(tmp_path / "base", ours, ledger, "evolutions/town/turns.jsonl") == ()
    assert ours.read_bytes() == ledger.read_bytes()


def test_what_cannot_be_merged_or_set_up_is_told(tmp_path: Path) -> None:
    ours, theirs = two_files(tmp_path, "", "")
    with pytest.raises(InputError, match="the merge driver does not support"):
        merge_file(tmp_path / "base", ours, theirs, "README.md")
    with pytest.raises(StorageError, match="cannot be read"):
        merge_file(tmp_path / "base", ours, tmp_path / "nowhere", "ledger.jsonl")
    alone = begun(tmp_path / "alone").folder
    result = invoked(mas_pool, ["git", str(alone)], "mas-pool")
    assert (result.code, "not in a git repository" in result.err) == (2, True)
    assert "no pool in" in invoked(mas_pool, ["git", str(tmp_path)], "mas-pool").ended(2).err
    odd = Repo(tmp_path / "repository", "pool[1]")
    begun(odd.pool)
    assert "Rename the folder" in invoked(mas_pool, ["git", str(odd.pool)], "mas-pool").ended(2).err


def test_a_clone_that_was_not_set_up_goes_by_the_attributes(tmp_path: Path) -> None:
    repo = repository(tmp_path / "repository")
    repo.git("clone", "-q", str(repo.folder), str(tmp_path / "clone"))
    text = repo.git("-C", str(tmp_path / "clone"), "check-attr", "merge", "ledger.jsonl")
    assert text.endswith(": union\n")
