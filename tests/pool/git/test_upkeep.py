"""Finding what is wrong with a pool, and going on with what is left."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from coterie.pool import Pool, repair, verify
from coterie.pool.ledger.changes import ChildRejected, Restored, Retired
from coterie.pool.ledger.ledger import Ledger
from coterie.schema import Catalogue, InputError, Lineage, Model
from coterie.schema.values.errors import StorageError

from ...support.failpoints import armed
from ..edited_teams import SEED, child_of, edited, pool_of, scored, tried, vote


@pytest.fixture
def pool(tmp_path: Path) -> Pool:
    pool = pool_of(tmp_path / "pool", vote())
    child_of(pool, "vote", max_tokens=9)
    child_of(pool, "vote_1", max_tokens=10)
    scored(pool, "vote", 0, 1)
    scored(pool, "vote_2", 1)
    pool.commit(tried("vote_2", "x", reason="down"), op="x")
    pool.commit(
        ChildRejected(operator="mutate", reason="bad", problems=["a", "b"], parents=["vote"]),
        op="r",
    )
    pool.add(vote(), Lineage(operator="mutate", parents=("vote_1",)), op="twin")
    pool.commit(Retired(member="vote_1", reason="weak"), op="retire")
    return pool


def ledger(pool: Pool) -> Path:
    return pool.folder / "ledger.jsonl"


def damage(pool: Pool, what: bytes) -> None:
    """Flip a bit in the first line that has this."""
    content = ledger(pool).read_bytes()
    place = content.index(what)
    flipped = bytes([content[place] ^ 1])
    ledger(pool).write_bytes(content[:place] + flipped + content[place + 1 :])


def test_a_pool_that_is_used_as_it_should_be_has_no_faults(pool: Pool) -> None:
    pool.commit(Restored(member="vote_1"), op="restore")
    findings = verify(pool.folder)
    assert (findings.faults, findings.notes) == ((), ())
    assert (findings.lines, findings.teams, findings.members) == (12, 3, 3)
    before = ledger(pool).read_bytes()
    assert repair(pool.folder) == []
    assert ledger(pool).read_bytes() == before


def test_what_is_no_pool_cannot_be_looked_through(tmp_path: Path) -> None:
    for look in (verify, repair):
        with pytest.raises(InputError, match="no pool in"):
            look(tmp_path)


def test_what_a_crash_left_is_told_and_no_fault(pool: Pool) -> None:
    with armed("files.append.before:1:raise-eio"), pytest.raises(StorageError):
        child_of(pool, "vote", max_tokens=11)
    with ledger(pool).open("a") as stream:
        stream.write('{"op": "half')
    content = ledger(pool).read_bytes()
    findings = verify(pool.folder)
    assert findings.faults == ()
    unfinished, orphan = findings.notes
    assert "its 12 bytes are ignored" in unfinished
    assert orphan.endswith(
        "teams/vote_3.yaml: belongs to no team. mas-pool verify --delete removes it."
    )
    assert ledger(pool).read_bytes() == content
    assert "line 12 was left unfinished" in repair(pool.folder)[0]
    assert len(verify(pool.folder).notes) == 1


def spoil(pool: Pool, name: str, old: str, new: str) -> None:
    path = pool.folder / "teams" / f"{name}.yaml"
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))


SPOILS: dict[str, tuple[Callable[[Pool], object], str]] = {
    "missing": (lambda pool: (pool.folder / "teams" / "vote_2.yaml").unlink(), "no file"),
    "no YAML": (lambda pool: spoil(pool, "vote_2", "agents:", "agents: ]"), "vote_2.yaml:3:"),
    "a cycle": (lambda pool: spoil(pool, "vote_2", "w2: [judge]", "judge: [w1]"), "a cycle"),
    "edited": (lambda pool: spoil(pool, "vote_2", "Solve it.", "Guess."), "it was edited"),
}


@pytest.mark.parametrize("how", SPOILS)
def test_a_file_that_is_not_the_team_that_was_born_is_a_fault(pool: Pool, how: str) -> None:
    spoiled, text = SPOILS[how]
    spoiled(pool)
    assert any(text in fault for fault in verify(pool.folder).faults)
    (done,) = repair(pool.folder)
    assert done == "vote_2 was retired: its file is lost, or holds another team."
    assert verify(pool.folder).faults == ()
    assert verify(pool.folder).notes
    mended = Pool.open(pool.folder)
    assert list(mended.members) == ["vote"]
    team = edited(vote(), max_tokens=10)
    assert mended.add(team, SEED, op="once more").name == "vote_3"


def test_lineage_that_was_edited_is_written_anew(pool: Pool) -> None:
    spoil(pool, "vote_2", "parents: [vote_1]", "parents: [vote]")
    (fault,) = verify(pool.folder).faults
    assert "its name or its lineage differs from the ledger" in fault
    assert len(repair(pool.folder)) == 1
    assert verify(pool.folder).faults == ()
    assert Pool.open(pool.folder).members["vote_2"].team.lineage == pool.members["vote_2"].lineage


def test_what_is_not_known_here_is_a_fault_and_no_reason_to_retire(tmp_path: Path) -> None:
    known = Catalogue.of_host(models={"fast": Model(alias="fast", model="openai/m")})
    pool = Pool.init(tmp_path, catalogue=known)
    pool.add(edited(vote(), model_id="fast"), SEED, op="a")
    assert verify(tmp_path, known).faults == ()
    (fault,) = verify(tmp_path).faults
    assert "agents.w1.model_id: no model 'fast'" in fault
    assert repair(tmp_path) == []
    assert list(Pool.open(tmp_path).members) == ["vote"]


def test_a_damaged_evaluation_is_left_out(pool: Pool) -> None:
    damage(pool, b'"score": 1')
    (fault,) = verify(pool.folder).faults
    assert "line 6 " in fault
    damaged = ledger(pool).read_bytes()
    left_out, report = repair(pool.folder)
    assert "line 6 was removed: it does not match its checksum" in left_out
    assert report.endswith("ledger.jsonl.damaged-1.")
    assert (pool.folder / "ledger.jsonl.damaged-1").read_bytes() == damaged
    mended = Pool.open(pool.folder)
    assert mended.members["vote"].statistics.n == 1
    assert mended.members["vote_2"].statistics.n == 1
    assert mended.commit(tried("vote", "None-1", 1), op="vote/None/1")
    assert verify(pool.folder).faults == ()


def test_what_refers_to_a_lost_team_is_lost_with_it(pool: Pool) -> None:
    """Its children cannot stay without it: lineage would not be whole."""
    damage(pool, b'"born", "team": "vote_1"')
    done = "\n".join(repair(pool.folder))
    assert "line 3 was removed: it does not match its checksum" in done
    assert "line 4 was removed: no team 'vote_1' was born before" in done
    assert list(Pool.open(pool.folder).teams) == ["vote"]
    assert len(verify(pool.folder).notes) == 2  # their files


def test_a_second_damage_keeps_the_first_copy(pool: Pool) -> None:
    for number in (1, 2):
        damage(pool, b'"score"')
        assert repair(pool.folder)[-1].endswith(f"damaged-{number}.")
    assert sorted(pool.folder.glob("*.damaged-*"))


def test_a_lost_first_line_is_written_anew(pool: Pool) -> None:
    content = ledger(pool).read_bytes()
    damage(pool, b'"pool"')
    repair(pool.folder)
    assert ledger(pool).read_bytes() == content


def test_a_merge_of_two_ledgers_keeps_what_fits(pool: Pool) -> None:
    lines = ledger(pool).read_bytes().splitlines(keepends=True)
    ledger(pool).write_bytes(b"".join([*lines, *lines[-2:], b"<<<<<<< mine\n", lines[4]]))
    assert verify(pool.folder).faults
    done = repair(pool.folder)
    assert ["repeats the operation" in item for item in done] == [True, True, False, True, False]
    assert ledger(pool).read_bytes() == b"".join(lines)


def test_a_ledger_that_no_pool_wrote_is_refused(tmp_path: Path) -> None:
    other = Ledger(tmp_path / "ledger.jsonl")
    other.append({"kind": "evaluated", "team": "vote"}, op="a")
    assert "line 1: a pool cannot begin with this line" in verify(tmp_path).faults[-1]
    with pytest.raises(StorageError, match="a pool cannot begin with this line"):
        Pool.open(tmp_path)


def test_a_pool_of_another_version_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "teams").mkdir()
    Ledger(tmp_path / "ledger.jsonl").append({"kind": "pool", "v": 3}, op="pool")
    before = (tmp_path / "ledger.jsonl").read_bytes()
    for look in (Pool.open, repair):
        with pytest.raises(StorageError, match=r"the pool has format 3; this version .* knows 2"):
            look(tmp_path)
    assert (tmp_path / "ledger.jsonl").read_bytes() == before
    assert verify(tmp_path).faults


BAD = [
    ({"kind": "evaluated", "team": "nobody", "task": "t", "score": 1}, "no team 'nobody'"),
    ({"kind": "evaluated", "team": "vote", "task": "t", "score": 2}, "not in"),
    ({"kind": "evaluated", "team": "vote", "task": "t"}, "does not fit 'evaluated'"),
    ({"kind": "failed", "team": "vote", "task": "t", "score": 1}, "does not fit 'failed'"),
    ({"kind": "evaluated", "team": "vote", "score": 1}, "does not match ledger.schema.json"),
    (
        {"kind": "evaluated", "team": ["vote"], "task": "t", "score": 1},
        "does not match ledger.schema.json",
    ),
    ({"kind": "promoted", "team": "vote"}, "unknown kind of line 'promoted'"),
    ({"team": "vote"}, "does not match ledger.schema.json"),
    ({"kind": "born", "team": "vote", "lineage": {"operator": "o"}}, "a new member cannot have"),
    ({"kind": "born", "team": "../up", "lineage": {"operator": "o"}}, "a new member cannot have"),
    (
        {"kind": "born", "team": "new", "lineage": {"operator": "o", "parents": ["new"]}},
        "no team 'new' was born before",
    ),
]


@pytest.mark.parametrize(("value", "message"), BAD)
def test_a_contradiction_is_left_out(pool: Pool, value: dict[str, object], message: str) -> None:
    before = ledger(pool).read_bytes()
    Ledger(ledger(pool)).append(value, op="bad")
    assert any(message in fault for fault in verify(pool.folder).faults)
    with pytest.raises(StorageError, match="mas-pool verify"):
        Pool.open(pool.folder)
    repair(pool.folder)
    assert ledger(pool).read_bytes() == before


def test_a_field_that_the_schema_has_not_is_told(pool: Pool) -> None:
    value = {"kind": "evaluated", "team": "vote", "task": "t", "score": 1, "mood": "good"}
    Ledger(ledger(pool)).append(value, op="odd")
    (fault,) = verify(pool.folder).faults
    assert "line 12: the line: " in fault
    assert "mood" in fault


def test_a_pool_in_use_notices_that_its_ledger_was_replaced(pool: Pool) -> None:
    other = pool_of(pool.folder.with_name("other"), vote("Guess.", name="guess"))
    ledger(other).replace(ledger(pool))
    with pytest.raises(StorageError, match=r"ledger\.jsonl: not the file that was read"):
        pool.refresh()


def test_the_names_of_files_and_teams_agree(pool: Pool) -> None:
    team = pool.members["vote_2"].team
    assert (team.name, team) == ("vote_2", replace(team, name="vote_2"))
