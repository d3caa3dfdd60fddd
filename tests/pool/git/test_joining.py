"""One pool of two copies of it that went on by themselves."""

import errno
import json
import shutil
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from coterie.pool import Pool, verify
from coterie.pool.command import main as mas_pool
from coterie.pool.git.joining import join, join_into
from coterie.pool.git.union import Contradiction
from coterie.pool.ledger.changes import Added, EventNoted, Learnt, Retired, Revised
from coterie.pool.ledger.scaffold import HEAD
from coterie.schema import Agent, InputError
from coterie.schema.values.errors import StorageError

from ...conftest import Draw
from ...support.commands import CommandResult, invoked
from ...support.failpoints import armed
from ...support.processes import killed_at
from ..edited_teams import SEED, child_of, tried
from ..histories import begun

MANIFEST = {"v": 3, "recipe": {"k": 2}, "tasks": {"t1": "x"}, "commands": ["a"], "coterie": ["1"]}


def silent(_message: str) -> None:
    pass


def texts(folder: Path) -> dict[str, bytes]:
    """Return all files of a pool that are text, by their names; of hidden folders, none."""
    table = {path.relative_to(folder): path for path in folder.rglob("*") if path.is_file()}
    return {
        name.as_posix(): path.read_bytes()
        for name, path in table.items()
        if not any(part.startswith(".") for part in name.parts)
    }


@pytest.fixture
def two(tmp_path: Path) -> tuple[Path, Path]:
    """Two copies of a pool, each of which went on."""
    base = begun(tmp_path / "ann")
    shutil.copytree(base.folder, tmp_path / "ben")
    for number, name in enumerate(("ann", "ben"), 1):
        pool = Pool.open(tmp_path / name)
        child = child_of(pool, "vote", op=f"{name}/child", prompt=f"As {name} says.")
        for task in range(number):
            pool.commit(tried(child, f"{name}{task}", 0.5), op=f"{name}/{task}")
        to = Agent(id="clerk", prompt=f"Count as {name}.")
        pool.commit(Revised(agent="clerk", to=to, reason=name), op=f"{name}/revised")
        pool.commit(Learnt(kind="lesson", task="x", text=name, owner="clerk"), op=f"{name}/taught")
    return tmp_path / "ann", tmp_path / "ben"


def merge(*words: object) -> CommandResult:
    return invoked(mas_pool, ["merge", *map(str, words)], "mas-pool")


def test_a_new_pool_of_both_depends_on_no_order(two: tuple[Path, Path], tmp_path: Path) -> None:
    before = [texts(path) for path in two]
    result = merge(*two, "--into", tmp_path / "both").ended(0)
    merge(*reversed(two), "--into", tmp_path / "turned")
    assert texts(tmp_path / "both") == texts(tmp_path / "turned")
    assert [texts(path) for path in two] == before
    assert verify(tmp_path / "both").faults == verify(tmp_path / "both").notes == ()
    pool = Pool.open(tmp_path / "both")
    assert [team.statistics.n for team in pool.teams.values()] == [1, 0, 1, 2]
    assert [revision.op for revision in pool.agent("clerk").revisions[1:]] == [
        "ann/revised",
        "ben/revised",
    ]
    assert pool.agent("clerk").agent.prompt == "Count as ben."
    assert [item.text for item in pool.learnt.values()] == ["ann", "ben"]
    assert "note: both sides revised the agent 'clerk'" in result.out
    assert result.out.splitlines()[-1] == f"{tmp_path / 'both'}: 14 lines, 5 of them new"
    assert not [*tmp_path.glob(".both*")]


def test_a_copy_is_taken_in_once(two: tuple[Path, Path], tmp_path: Path) -> None:
    ann, ben = two
    join_into(tmp_path / "both", ann, ben, tell=silent)
    assert join(ann, ben, tell=silent).new == 5
    assert texts(ann) == texts(tmp_path / "both")
    again = join(ann, ben, tell=silent)
    assert (again.new, texts(ann)) == (0, texts(tmp_path / "both"))
    assert join(ben, ann, tell=silent).new == 4
    assert texts(ben) == texts(ann)


def killed(moment: str, ann: Path, ben: Path) -> None:
    """Merge, and be killed at a moment."""
    assert killed_at(moment, lambda: join(ann, ben, tell=silent))


def failed(moment: str, ann: Path, ben: Path) -> None:
    """Merge on a disk that breaks at a moment."""
    with armed(f"{moment}:raise-eio"), suppress(StorageError):
        join(ann, ben, tell=silent)


@pytest.mark.parametrize("stopped", [killed, failed])
def test_who_is_stopped_anywhere_while_merging_merges_again(
    stopped: Callable[[str, Path, Path], None],
    two: tuple[Path, Path],
    tmp_path: Path,
    drawn: Draw,
) -> None:
    """One evolution is in both, and further in the other one; one is in the other one alone."""
    ann, ben = two
    evolution(ann, b"1\n", commands=["c"])
    evolution(ben, b"1\n2\n", commands=["a", "b"])
    shutil.copytree(ben / "evolutions/town", ben / "evolutions/village")
    before, theirs = texts(ann), texts(ben)
    shutil.copytree(ann, tmp_path / "both")
    with armed(f"count:{tmp_path / 'moments'}"):
        join(tmp_path / "both", ben, tell=silent)
    after = texts(tmp_path / "both")
    seen, moments = Counter[str](), list[str]()
    for name in (tmp_path / "moments").read_text().split():
        seen[name] += 1
        moments.append(f"{name}:{seen[name]}")
    assert seen["files.rename.after"] == 3
    for moment in drawn(moments):
        pool = tmp_path / "stopped"
        shutil.copytree(ann, pool)
        stopped(moment, pool, ben)
        Pool.open(pool)
        lines = {path.name for path in (pool / "evolutions").iterdir()}
        assert lines in ({"town"}, {"town", "village"}), moment
        assert not verify(pool).faults
        assert all(
            item in {before.get(word), after.get(word)} for word, item in texts(pool).items()
        )
        join(pool, ben, tell=silent)
        assert texts(pool) == after, moment
        assert not (pool / ".cache/merging").exists()
        shutil.rmtree(pool)
    assert texts(ben) == theirs


def test_what_crashes_of_earlier_versions_left_is_not_taken(two: tuple[Path, Path]) -> None:
    ann, ben = two
    evolution(ben, b"1\n")
    shutil.copytree(ben / "evolutions/town", ben / "evolutions/.town.x1/old")
    (ben / "evolutions/town/.evolution.json.x1").write_text("{")
    join(ann, ben, tell=silent)
    assert [path.name for path in (ann / "evolutions").iterdir()] == ["town"]
    names = {"turns.jsonl", "journal.log", "evolution.json"}
    assert {path.name for path in (ann / "evolutions/town").iterdir()} == names


def test_an_evolution_without_a_beginning_is_taken_as_it_is(two: tuple[Path, Path]) -> None:
    ann, ben = two
    evolution(ben, b"1\n")
    (ben / "evolutions/town/evolution.json").unlink()
    for _ in range(2):
        join(ann, ben, tell=silent)
        assert texts(ann / "evolutions") == texts(ben / "evolutions")


def test_a_pool_that_cannot_be_written_opens_with_an_evolution_aside(
    two: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    ann, ben = two
    evolution(ann, b"1\n")
    evolution(ben, b"1\n2\n")
    killed("files.rename.after:1", ann, ben)
    with monkeypatch.context() as patched:
        patched.setattr(Pool, "_is_writable", False)
        assert Pool.open(ann).teams
    assert not (ann / "evolutions/town").exists()
    Pool.open(ann)
    assert (ann / "evolutions/town/turns.jsonl").read_bytes() == b"1\n"


def test_what_contradicts_changes_nothing(two: tuple[Path, Path], tmp_path: Path) -> None:
    ann, ben = two
    for number, folder in enumerate(two):
        Pool.open(folder).commit(tried("vote", "t", number), op="town/000009/trial")
    before = [texts(path) for path in two]
    result = merge(ann, ben).ended(2)
    assert "the operation 'town/000009/trial' differs between" in result.err
    assert str(ann / "ledger.jsonl") in result.err
    assert merge(ann, ben, "--into", tmp_path / "both").code == 2
    assert [texts(path) for path in two] == before
    assert not (tmp_path / "both").exists()
    assert not [*tmp_path.glob(".both*")]


def test_a_damaged_copy_changes_nothing(two: tuple[Path, Path]) -> None:
    ann, ben = two
    ledger = ben / "ledger.jsonl"
    ledger.write_bytes(ledger.read_bytes().replace(b"evaluated", b"evaluatad", 1))
    before = texts(ann)
    with pytest.raises(StorageError, match="ben"):
        join(ann, ben, tell=silent)
    assert texts(ann) == before


def test_a_team_that_both_write_in_another_style_is_one_and_what_is_lost_comes_back(
    two: tuple[Path, Path], tmp_path: Path
) -> None:
    ann, ben = two
    file = ben / "teams/vote.yaml"
    file.write_text(f"# A comment.\n{file.read_text()}")
    Pool.open(ben).commit(Retired(member="guess", reason="lost"), op="ben/retired")
    (ben / "teams/guess.yaml").write_text("name: other\n")
    join_into(tmp_path / "both", ann, ben, tell=silent)
    join_into(tmp_path / "turned", ben, ann, tell=silent)
    assert texts(tmp_path / "both") == texts(tmp_path / "turned")
    assert (tmp_path / "both/teams/guess.yaml").read_bytes() == (
        ann / "teams/guess.yaml"
    ).read_bytes()
    assert not verify(tmp_path / "both").faults


def evolution(pool: Path, turns: bytes, **fields: object) -> None:
    folder = pool / "evolutions/town"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "turns.jsonl").write_bytes(turns)
    (folder / "journal.log").write_bytes(turns)
    (folder / "evolution.json").write_text(json.dumps({**MANIFEST, **fields}))


def test_an_evolution_is_that_of_who_went_further(two: tuple[Path, Path], tmp_path: Path) -> None:
    ann, ben = two
    evolution(ben, b"1\n2\n", commands=["a", "b"], tasks={"t1": "x", "t2": "y"})
    assert not (ann / "evolutions").exists()
    join_into(tmp_path / "first", ann, ben, tell=silent)
    assert (tmp_path / "first/evolutions/town/journal.log").read_bytes() == b"1\n2\n"
    evolution(ann, b"1\n", commands=["c"])
    for name, pair in (("both", two), ("turned", (ben, ann))):
        join_into(tmp_path / name, *pair, tell=silent)
    assert texts(tmp_path / "both") == texts(tmp_path / "turned")
    folder = tmp_path / "both/evolutions/town"
    assert (folder / "journal.log").read_bytes() == b"1\n2\n"
    manifest = json.loads((folder / "evolution.json").read_text())
    assert manifest["commands"] == ["a", "b", "c"]
    assert manifest["tasks"] == {"t1": "x", "t2": "y"}
    assert not [*(tmp_path / "both/evolutions").glob(".town*")]


@pytest.mark.parametrize(
    ("turns", "fields", "message"),
    [
        (b"3\n", {}, "are one evolution that diverged"),
        (b"1\n", {"recipe": {"k": 3}}, "are two evolutions with the same name"),
        (b"1\n", {"tasks": {"t2": "x"}}, "are two evolutions with the same name"),
    ],
)
def test_another_evolution_of_one_name_is_told(
    turns: bytes, fields: dict[str, object], message: str, two: tuple[Path, Path]
) -> None:
    ann, ben = two
    evolution(ann, b"1\n")
    evolution(ben, turns, **fields)
    before = texts(ann)
    with pytest.raises(Contradiction, match=message):
        join(ann, ben, tell=silent)
    assert texts(ann) == before


@pytest.mark.parametrize(
    "text",
    [
        "{",
        "[]",
        '{"tasks": {}}',
        '{"tasks": {}, "commands": [{}], "coterie": []}',
        '{"tasks": {}, "commands": [], "coterie": "1"}',
    ],
)
def test_a_manifest_that_is_none_is_told(text: str, two: tuple[Path, Path]) -> None:
    for path in two:
        evolution(path, b"1\n")
    (two[1] / "evolutions/town/evolution.json").write_text(text)
    with pytest.raises(
        StorageError, match=r"town: (cannot be read|not the file that an evolution wrote)"
    ):
        join(*two, tell=silent)


@pytest.mark.parametrize("name", ["teams", "teams/vote.yaml", "evolutions", "evolutions/town"])
def test_no_link_leads_out_of_a_copy(name: str, two: tuple[Path, Path], tmp_path: Path) -> None:
    ann, ben = two
    evolution(ben, b"1\n")
    (ben / name).rename(tmp_path / "elsewhere")
    (ben / name).symlink_to(tmp_path / "elsewhere")
    before = texts(ann)
    with pytest.raises(InputError, match=rf"{name} is a link, so the pool is not used"):
        join(ann, ben, tell=silent)
    assert texts(ann) == before


def test_a_folder_that_cannot_be_written_is_told(
    two: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(**_: object) -> str:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr("coterie.pool.git.joining.tempfile.mkdtemp", refused)
    result = merge(*two, "--into", tmp_path / "new")
    assert (result.code, result.err.endswith("Permission denied.\n")) == (1, True)


def test_two_heads_are_told_and_the_scaffold_follows(two: tuple[Path, Path]) -> None:
    for path in two:
        pool = Pool.open(path)
        child = next(name for name in pool.teams if name.startswith("vote_"))
        pool.commit(EventNoted(what=HEAD, about={"team": child}), op=f"{path.name}/head")
    heads = [Pool.open(file).head for file in two]
    joined = join(*two, tell=silent)
    merged = Pool.open(two[0])
    assert merged.head is not None
    assert merged.head.name == heads[1].name  # type: ignore[union-attr]
    assert any("both sides have a head" in note for note in joined.notes)
    assert not verify(two[0]).notes


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("ann",), "expected two pools to merge, got 1"),
        (("ann", "ann"), "are the same folder"),
        (("ann", "nowhere"), "no pool in"),
        (("ann", "ben", "--into", "ann"), "already exists"),
        (("ann", "ben", "--into", "no/where"), "no such folder"),
        (("--driver", "a", "b"), "expected the four paths"),
    ],
)
def test_wrong_words_are_told(
    words: tuple[str, ...], message: str, two: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(two[0].parent)
    assert message in merge(*words).ended(2).err


def test_pools_that_are_no_copies_are_sent_to_import(tmp_path: Path) -> None:
    """Their names do not tell whose they are, and the same operations say different things."""
    item, other = (Pool.init(tmp_path / name, shared=True) for name in ("a", "b"))
    for number, pool in enumerate((item, other)):
        agent = Agent(id="clerk", prompt=f"{number}")
        pool.commit(Added(member=agent, lineage=SEED), op="town/1")
    with pytest.raises(Contradiction, match=r"not copies of one pool.*mas-pool import"):
        join(item.folder, other.folder, tell=silent)
    with pytest.raises(InputError):
        join(tmp_path / "a", tmp_path / "c", tell=silent)
