"""A pool keeps what it was told: after repetition, full disks, threads, damage and leftovers."""

import json
import re
from pathlib import Path

import pytest

from coterie.pool import Pool
from coterie.pool.ledger.changes import ChildRejected, Retired
from coterie.pool.ledger.ledger import line_of
from coterie.pool.values.layout import LEDGER
from coterie.schema import (
    Lineage,
)
from coterie.schema.values.errors import StorageError
from coterie.schema.values.files import remove

from ...support.failpoints import armed
from ...support.processes import at_once
from ..edited_teams import SEED, child_of, edited, pool_of, scored, tried, vote
from .test_pool import files, lines


def test_an_operation_counts_once(pool: Pool) -> None:
    child = edited(vote(), max_tokens=9)
    born = Lineage(operator="mutate", parents=("vote",))
    for seen in (pool, pool, Pool.open(pool.folder)):
        assert seen.add(child, born, op="add") == pool.add(child, born, op="add")
        assert seen.add(child, born, op="add").is_new
        seen.add(child, born, op="twin")
        seen.commit(tried("vote", "t", 1), op="evaluate")
        seen.commit(tried("vote", "u", reason="down"), op="fail")
        seen.commit(ChildRejected(operator="mutate", reason="bad"), op="reject")
        seen.commit(Retired(member="vote", reason="weak"), op="retire")
    assert not pool.commit(tried("vote", "t", 0), op="evaluate")
    assert len(lines(pool)) == 8
    member = Pool.open(pool.folder).member("vote")
    assert (member.statistics.n, member.statistics.score, member.statistics.failures) == (1, 1, 1)


def test_an_operation_has_one_meaning(pool: Pool) -> None:
    pool.commit(tried("vote", "t", 1), op="a")
    with pytest.raises(ValueError, match="the operation 'a' was no addition"):
        pool.add(vote("Guess."), SEED, op="a")
    assert list(Pool.open(pool.folder).teams) == ["vote"]


def test_a_full_disk_leaves_the_pool_as_it_was(pool: Pool) -> None:
    child = edited(vote(), max_tokens=9)
    for point in ("files.write.before", "files.append.before", "files.append.written"):
        with armed(f"{point}:1:raise-enospc"), pytest.raises(StorageError, match="No space left"):
            pool.add(child, SEED, op="a")
        assert list(Pool.open(pool.folder).members) == ["vote"]
    assert pool.add(child, SEED, op="a").name == "vote_1"
    assert files(pool) == {"vote.yaml", "vote_1.yaml"}


def test_pools_see_what_others_did(pool: Pool) -> None:
    other = Pool.open(pool.folder)
    child_of(other, "vote", max_tokens=9)
    assert child_of(pool, "vote_1", max_tokens=10) == "vote_2"
    other.refresh()
    assert list(other.members) == ["vote", "vote_1", "vote_2"]
    scored(pool, "vote_2", 1)
    other.refresh()
    assert other.members["vote_2"].statistics.n == 1


def test_threads_share_a_pool(pool: Pool) -> None:
    def work(worker: int) -> None:
        for number in range(5):
            child_of(pool, "vote", max_tokens=1 + number, op=f"{worker}/{number}")
            pool.commit(tried("vote", f"{number}", 1), op=f"{worker}/{number}/e")

    at_once(work, range(4))
    assert len(pool.members) == 6
    assert pool.duplicates == {"mutate": 15}
    assert pool.members["vote"].statistics.n == 20
    assert len({member.identity for member in pool.members.values()}) == 6


# Damage


def test_a_damaged_ledger_is_not_opened_and_it_is_said_what_to_do(pool: Pool) -> None:
    scored(pool, "vote", 1, 0)
    ledger = pool.folder / "ledger.jsonl"
    ledger.write_bytes(ledger.read_bytes().replace(b'"score": 1', b'"score": 0', 1))
    with pytest.raises(StorageError, match=r"line 3 .* mas-pool verify --repair"):
        Pool.open(pool.folder)


def test_a_count_of_more_than_64_bits_is_an_error_in_a_line(pool: Pool) -> None:
    usage = {"calls": 2**64}
    value = {"kind": "evaluated", "team": "vote", "task": "t", "score": 1, "usage": usage}
    with (pool.folder / LEDGER).open("ab") as stream:
        stream.write(line_of(value, "by/hand"))
    words = r"ledger.jsonl: line 3: .*: usage.calls: 1.84\d+e\+19 is not of type 'integer'"
    with pytest.raises(StorageError, match=words):
        Pool.open(pool.folder)


def test_a_missing_file_is_said_when_the_pool_is_opened(pool: Pool) -> None:
    (pool.folder / "teams" / "vote.yaml").unlink()
    with pytest.raises(StorageError, match=r"files of 1 team are missing: vote\. .*--repair"):
        Pool.open(pool.folder)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("name: vote\n", "agents"),
        ("name: vote\nagents:\n  a: {prompt: Solve it.}\n", "this is not the team"),
    ],
)
def test_an_edited_team_is_not_taken_for_the_evaluated(pool: Pool, text: str, message: str) -> None:
    (pool.folder / "teams" / "vote.yaml").write_text(text)
    with pytest.raises(StorageError, match=message):
        _ = Pool.open(pool.folder).members["vote"].team


def test_a_description_may_be_edited(pool: Pool) -> None:
    path = pool.folder / "teams" / "vote.yaml"
    path.write_text(path.read_text().replace("name: vote\n", "name: vote\ndescription: Mine.\n"))
    assert Pool.open(pool.folder).members["vote"].team.description == "Mine."


def test_orphans_are_removed_and_teams_are_not(pool: Pool) -> None:
    with armed("files.append.before:1:raise-enospc"), pytest.raises(StorageError):
        child_of(pool, "vote", max_tokens=9)
    assert files(pool) == {"vote.yaml", "vote_1.yaml"}
    assert pool.remove_orphans(dry_run=True) == ["teams/vote_1.yaml"]
    assert files(pool) == {"vote.yaml", "vote_1.yaml"}
    assert pool.remove_orphans() == ["teams/vote_1.yaml"]
    assert files(pool) == {"vote.yaml"}


def test_what_cannot_be_removed_is_said(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match=re.escape(str(tmp_path))):
        remove(tmp_path)


def test_an_unfinished_line_is_told_to_whoever_asked(tmp_path: Path) -> None:
    pool_of(tmp_path, vote())
    with (tmp_path / "ledger.jsonl").open("a") as stream:
        stream.write('{"op": "half')
    texts = list[str]()
    pool = Pool.open(tmp_path, report=texts.append)
    assert list(pool.members) == ["vote"]
    assert texts == []
    child_of(pool, "vote", max_tokens=9)
    assert "line 3 was left unfinished" in texts[0]


def test_every_line_is_as_the_schema_has_it(pool: Pool) -> None:
    """The schema is for people and other programs; `mas-pool verify` holds pools to it."""
    schema = json.loads(
        Path(__file__).parents[3].joinpath("pool/ledger/ledger.schema.json").read_text()
    )
    fields = {name: item.get("properties", {}) for name, item in schema["$defs"].items()}
    kinds = {name for name, field in fields.items() if "const" in field.get("kind", {})}
    listed = {item["$ref"].rpartition("/")[2] for item in schema["oneOf"]}
    assert kinds == listed
