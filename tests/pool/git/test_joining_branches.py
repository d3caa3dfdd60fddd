"""Branches of a pool: git brings them together alone, and nothing is lost or counted twice."""

import os
import shutil
from collections import Counter
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from coterie.pool import Pool, import_teams, verify
from coterie.pool.command import main as mas_pool
from coterie.pool.git.joining import join
from coterie.pool.ledger.changes import Learnt, Retired, Revised
from coterie.pool.ledger.state import begin, is_shared
from coterie.pool.values.layout import LEDGER
from coterie.schema import Catalogue, Lineage
from coterie.schema.command.diff import main as mas_diff
from coterie.schema.values.errors import StorageError

from ...operators.evolving import evolve, write_world
from ...support.commands import CommandResult, invoked, invoked_in
from ...support.repositories import Repo
from ..edited_teams import SEED, child_of, pool_of, tried, vote
from ..histories import Folders, Repository, begun, history

PARTS = 50
"""Of the histories, so that processes may share them: 200 each, 10,000 in all, every night."""


def shared_pool(folder: Path) -> Repo:
    """A repository whose pool has two teams, one of which ran."""
    repository = Repo(folder)
    pool = Pool.init(folder, shared=True)
    for team in (vote(), vote("Guess.", name="guess")):
        pool.add(team, SEED, op=f"seed/{team.name}")
    pool.commit(tried("vote", "t0", 0.5), op="t0")
    repository.commit("begun")
    return repository


def told(folder: Path) -> dict[str, Any]:
    """What a pool knows, whatever the order in which it came."""
    pool = Pool.open(folder)
    return {
        "teams": {
            name: (
                team.identity,
                team.lineage,
                team.retired,
                team.statistics.n,
                team.statistics.score_sum,
            )
            for name, team in pool.teams.items()
        },
        "learnt": {item.id: item.text for item in pool.learnt.values()},
        "ops": Counter(entry.op for entry in pool.entries()),
    }


def test_git_merges_two_branches_of_a_pool_alone(tmp_path: Path) -> None:
    repository = shared_pool(tmp_path / "pool")
    for branch in ("ann", "ben"):
        repository.git("checkout", "-q", "-b", branch, "main")
        pool = Pool.open(repository.folder)
        child = child_of(pool, "vote", op=f"{branch}/000001/best", prompt=f"As {branch} says.")
        child_of(pool, child, op=f"{branch}/000002/best", max_tokens=len(branch))
        pool.commit(tried("vote", f"of {branch}", 1), op=f"{branch}/1")
        pool.commit(tried(child, "t1", 1), op=f"{branch}/2")
        entry = Learnt(kind="lesson", task="Add.", text=f"{branch} carries the one.")
        pool.commit(entry, op=f"{branch}/learnt")
        repository.commit(branch)
    repository.git("merge", "-q", "--no-edit", "ann")
    merged = Pool.open(repository.folder)
    assert not verify(repository.folder).faults
    assert len(merged.members) == 2 + 2 * 2
    assert merged.member("vote").statistics.n == 3
    assert merged.member("vote").statistics.score_sum == pytest.approx(2.5)
    assert sorted(item.text[:3] for item in merged.learnt.values()) == ["ann", "ben"]
    grand = [team for team in merged.teams.values() if team.lineage.parents not in {(), ("vote",)}]
    assert len(grand) == 2
    assert all(item.lineage.parents[0] in merged.teams for item in grand)
    child_of(merged, "vote", prompt="And it goes on.")
    assert not verify(repository.folder).faults


def test_both_merges_come_to_the_same(tmp_path: Path) -> None:
    repository = shared_pool(tmp_path / "pool")
    for branch in ("ann", "ben"):
        repository.git("checkout", "-q", "-b", branch, "main")
        pool = Pool.open(repository.folder)
        child_of(pool, "vote", op="same", prompt="As both say.")
        pool.commit(tried("guess", branch, 0), op=branch)
        repository.commit(branch)
    records: list[dict[str, Any]] = []
    for name, other in (("ann", "ben"), ("ben", "ann")):
        repository.git("checkout", "-q", "-b", f"{name}-{other}", name)
        repository.git("merge", "-q", "--no-edit", other)
        records.append(told(repository.folder))
    assert records[0] == records[1]
    assert len(records[0]["teams"]) == 3  # what both made alike is one team
    assert set(records[0]["ops"].values()) == {1}


@pytest.mark.parametrize(
    "part",
    [*range(2), *(pytest.param(part, marks=pytest.mark.nightly) for part in range(2, PARTS))],
)
def test_random_histories_merge_to_one_pool(tmp_path: Path, nightly: bool, part: int) -> None:
    """Lineage, statistics, lessons and revisions; by the driver, by git with it and without it."""
    catalogue = Catalogue.of_host()
    by_git = 3 if nightly else int(part == 0)
    seeds = range(part, PARTS * (200 if nightly else max(1, by_git)), PARTS)
    for number, seed in enumerate(seeds):
        if number < by_git:
            branched = partial(Repository, driver=number == 0)
            history(tmp_path / "x", seed, catalogue, branched, agents=number == 0)
        else:
            history(tmp_path / "x", seed, catalogue, Folders, agents=True)


def test_two_evolutions_of_one_recipe_merge(tmp_path: Path) -> None:
    world = write_world(tmp_path, tasks=3)
    text = (world / "tasks.jsonl").read_text().splitlines(keepends=True)
    (world / "recipe.yaml").write_text((world / "recipe.yaml").read_text().replace("8", "2"))
    repository = Repo(world / "repository", "pool")
    pool = "repository/pool"
    (repository.folder / ".keep").touch()
    repository.commit("begun")
    (world / "tasks.jsonl").write_text(text[0])
    evolve(world, pool, "--git").ended(0)
    assert is_shared(repository.pool)
    for branch, tasks in (("ann", text[1]), ("ben", text[2])):
        repository.git("checkout", "-q", "-b", branch, "main")
        (world / "tasks.jsonl").write_text(tasks)
        assert evolve(world, pool, "--git").ended(0).calls > 0
        evolve(world, pool, "--git").ended(0, calls=0)  # the same command finds what it began
    branches = [told_at(repository, branch) for branch in ("main", "ann", "ben")]
    repository.git("merge", "-q", "--no-edit", "ann")
    assert not verify(repository.pool).faults
    assert len(list((repository.pool / "evolutions").iterdir())) == 3
    told_of = report(repository, "--since", "main", "--format", "json").json["evolutions"]
    assert [item["tasks"] for item in told_of.values()] == [1, 1]
    assert all(item["teams"]["calls"] and item["operators"]["calls"] for item in told_of.values())
    base, ann, ben = (fields["ops"] for fields in branches)
    merged = told(repository.pool)
    assert merged["ops"] == ann | ben
    assert sum(merged["ops"].values()) == ann.total() + ben.total() - base.total()
    for name, (*_, n, total) in merged["teams"].items():
        was = [fields["teams"].get(name, (None, None, None, 0, 0.0))[3:] for fields in branches]
        assert n == was[1][0] + was[2][0] - was[0][0]
        assert total == pytest.approx(was[1][1] + was[2][1] - was[0][1])


def told_at(repository: Repo, branch: str) -> dict[str, Any]:
    head = repository.git("branch", "--show-current").strip()
    repository.git("checkout", "-q", branch)
    fields = told(repository.pool)
    repository.git("checkout", "-q", head)
    return fields


def test_a_pool_that_is_there_can_be_shared_from_then_on(tmp_path: Path) -> None:
    pool = pool_of(tmp_path / "pool", vote())
    assert child_of(pool, "vote", max_tokens=9) == "vote_1"
    assert not is_shared(pool.folder)
    (pool.folder / ".gitattributes").unlink()
    shared = Pool.init(pool.folder, shared=True)
    assert shared.shared
    assert list(shared.teams) == ["vote", "vote_1"]
    assert child_of(shared, "vote", max_tokens=10).startswith("vote_")
    assert "vote_2" not in shared.teams
    assert "merge=union" in (pool.folder / ".gitattributes").read_text()
    before = (pool.folder / "ledger.jsonl").read_bytes()
    begin(pool.folder, shared=True)
    assert (pool.folder / "ledger.jsonl").read_bytes() == before
    assert not verify(pool.folder).faults


def test_one_operation_that_two_branches_let_happen_differently_is_told(tmp_path: Path) -> None:
    repository = shared_pool(tmp_path / "pool")
    for branch in ("ann", "ben"):
        repository.git("checkout", "-q", "-b", branch, "main")
        Pool.open(repository.folder).commit(tried("vote", branch, 1), op="town/000009/trial")
        repository.commit(branch)
    repository.git("merge", "-q", "--no-edit", "ann")
    (fault,) = verify(repository.folder).faults
    assert "repeats the operation 'town/000009/trial' with different content" in fault


@pytest.fixture
def evolved_branch(tmp_path: Path) -> Repo:
    """A branch on which things happened to a pool."""
    repository = shared_pool(tmp_path / "pool")
    repository.git("checkout", "-q", "-b", "ann")
    pool = Pool.open(repository.folder)
    reason = "It <b>guessed</b> | see [this](http://x) @team\nand more"
    born = Lineage(operator="mutate", parents=("guess",), reason=reason, task="t`1`")
    child = pool.add(vote("Guess twice.", name="guess"), born, op="ann/000001/best").name
    for number in range(3):
        pool.commit(tried(child, f"t{number}", 1), op=f"ann/trial {number}")
    pool.commit(Learnt(kind="lesson", task="Add.", text="Carry the one."), op="ann/learnt")
    pool.commit(Retired(member="vote", reason="dull"), op="ann/retired")
    repository.commit("ann")
    return repository


def report(repository: Repo, *words: str) -> CommandResult:
    return invoked(mas_pool, ["report", str(repository.pool), *words], "mas-pool")


def test_a_report_tells_what_a_branch_did(evolved_branch: Repo) -> None:
    told_values = report(evolved_branch, "--since", "main", "--format", "json").json
    (child,) = told_values["born"]
    assert told_values["best"]["team"] != told_values["best_now"]["team"] == child["team"]
    assert (told_values["evaluations"], told_values["retired"]) == (3, {"vote": "dull"})
    assert [item["text"] for item in told_values["learnt"]] == ["Carry the one."]
    text = report(evolved_branch, "--since", "main").out
    assert f"+ {child['team']} by mutate of guess on t`1`, 1.000 [" in text
    assert "n=3: It <b>guessed</b>" in text
    assert "- vote: dull" in text
    assert "1 new team, 1 retired, 3 evaluations, 1 learnt" in text
    assert "nothing happened" in report(evolved_branch, "--since", "HEAD").out


def test_what_models_wrote_is_no_markdown(evolved_branch: Repo) -> None:
    text = report(evolved_branch, "--since", "main", "--format", "markdown").out
    assert "&lt;b\\>guessed" in text
    assert "\\[this\\]\\(http" in text
    assert "&#64;team" in text
    assert "`` t`1` ``" in text
    (row,) = [line for line in text.splitlines() if line.startswith("| `guess_")]
    assert row.replace("\\|", "").count("|") == 6


def test_a_report_of_what_is_not_there_is_told(evolved_branch: Repo, tmp_path: Path) -> None:
    assert "no such commit" in report(evolved_branch, "--since", "nowhere").ended(2).err
    assert report(evolved_branch, "--since", "--all").code == 2
    Pool.init(tmp_path / "alone", shared=True)
    result = invoked(mas_pool, ["report", str(tmp_path / "alone"), "--since", "HEAD"], "mas-pool")
    assert (result.code, "not in a git repository" in result.err) == (2, True)
    evolved_branch.git("mv", "ledger.jsonl", "elsewhere")
    evolved_branch.commit("no pool")
    evolved_branch.git("mv", "elsewhere", "ledger.jsonl")
    assert "was not a pool then" in report(evolved_branch, "--since", "HEAD").ended(2).err


def test_git_shows_a_new_team_beside_its_parent(evolved_branch: Repo) -> None:
    (file,) = (evolved_branch.pool / "teams").glob("guess_*.yaml")
    words = ["--git", f"teams/{file.name}", os.devnull, ".", ".", str(file), "abc", "100644"]
    text = invoked_in(evolved_branch.folder, mas_diff, words, "mas-diff").out
    assert "a new team, made of guess:" in text
    assert "w1: prompt" in text
    assert "twice" in text
    (evolved_branch.pool / "teams" / "guess.yaml").unlink()
    text = invoked_in(evolved_branch.folder, mas_diff, words, "mas-diff").out
    assert "a new file:" in text


def test_lines_that_a_merge_left_out_of_order_are_put_in_order(tmp_path: Path) -> None:
    pool = pool_of(tmp_path / "pool", vote())
    child = child_of(pool, "vote", max_tokens=9)
    pool.commit(tried(child, "t", 1), op="trial")
    before = told(pool.folder)
    path = pool.folder / "ledger.jsonl"
    first, seed, birth, trial = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(first + trial + birth + seed)
    findings = verify(pool.folder)
    assert not findings.faults
    assert any("sorts them" in note for note in findings.notes)
    assert told(pool.folder) == before
    assert path.read_bytes() == first + seed + birth + trial
    assert not any("in order" in note for note in verify(pool.folder).notes)


def test_git_alone_leaves_lines_that_are_read_in_the_order_of_the_driver(tmp_path: Path) -> None:
    begun(tmp_path / "base")
    for branch, prompts in (
        ("ann", ("Sum.", "Add up.", "Count twice.")),
        ("ben", ("Guess it.", "Try.")),
    ):
        shutil.copytree(tmp_path / "base", tmp_path / branch)
        pool = Pool.open(tmp_path / branch)
        for prompt in prompts:
            to = replace(pool.agent("clerk").agent, prompt=prompt)
            pool.commit(Revised(agent="clerk", to=to), op=f"{branch} {prompt}")
    lines = [(tmp_path / name / LEDGER).read_bytes() for name in ("base", "ann", "ben")]
    base, ann, ben = lines[0], *(text.removeprefix(lines[0]) for text in lines[1:])
    join(tmp_path / "ann", tmp_path / "ben", tell=print)
    right = (tmp_path / "ann" / LEDGER).read_bytes()
    for text in (base + ann + ben, base + ben + ann):
        (tmp_path / "base" / LEDGER).write_bytes(text)
        pool = Pool.open(tmp_path / "base")
        assert pool.agent("clerk").agent.prompt == "Count twice."
        assert (tmp_path / "base" / LEDGER).read_bytes() == right
        pool.commit(tried("vote", "t1", 1), op="later")
        *_, last = pool.entries()
        assert (last.op, last.clock) == ("later", right.count(b"\n") - 1)


@pytest.mark.parametrize("shares", [False, True])
def test_git_alone_leaves_a_pool_with_a_twin_of_one_side(tmp_path: Path, shares: bool) -> None:
    """One of them may have shared the pool, too."""
    guess = vote("Guess.", name="guess")
    source = pool_of(tmp_path / "source", guess)
    source.commit(tried("guess", "t", 1), op="trial")
    pool = Pool.init(tmp_path / "base", shared=not shares)
    pool.add(vote(), SEED, op="seed/vote")
    first, *base = (pool.folder / LEDGER).read_bytes().splitlines(keepends=True)
    heads, own = [first], list[list[bytes]]()
    child = Lineage(operator="mutate", parents=("vote",))
    raced = vote("Race.", name="raced")
    for branch in ("ann", "ben"):
        shutil.copytree(pool.folder, tmp_path / branch)
        copy = Pool.open(tmp_path / branch)
        if branch == "ann":
            copy.add(guess, child, op="own")
            copy.add(raced, child, op="own raced")
        (imported,) = import_teams(copy, source, ["guess"])
        there = copy.add(raced, Lineage(operator="seed"), op="import/raced")
        copy.commit(tried(imported.name, branch, 0), op=branch)
        copy.commit(tried(there.name, branch, 0), op=f"raced {branch}")
        if shares and branch == "ben":
            begin(copy.folder, shared=True)
        head, *rest = (copy.folder / LEDGER).read_bytes().splitlines(keepends=True)
        heads += [head] * (head not in heads)
        own.append(rest[len(base) :])
    join(tmp_path / "ann", tmp_path / "ben", tell=print)
    path = tmp_path / "ann" / LEDGER
    right, knows = path.read_bytes(), told(path.parent)
    assert set(knows["ops"].values()) == {1}
    for sides in (own, own[::-1]):
        path.write_bytes(b"".join([*heads, *base, *sides[0], *sides[1]]))
        assert told(path.parent) == knows
        assert path.read_bytes() == right
        assert not verify(path.parent).faults


def test_a_line_that_refers_to_what_is_nowhere_is_damage(tmp_path: Path) -> None:
    pool = pool_of(tmp_path / "pool", vote())
    child = child_of(pool, "vote", max_tokens=9)
    pool.commit(tried(child, "t", 1), op="trial")
    path = pool.folder / "ledger.jsonl"
    first, seed, _, trial = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(first + trial + seed)
    for use in (lambda: Pool.open(pool.folder), lambda: Pool(pool.folder).refresh()):
        with pytest.raises(StorageError, match="line 2: no team 'vote_1' was born before"):
            use()
    assert path.read_bytes() == first + trial + seed
