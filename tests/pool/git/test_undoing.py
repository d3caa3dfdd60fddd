"""Undoing: a pool is as it was before, its record stays whole, and a revert is named and mended."""

import random
from pathlib import Path

import pytest

from coterie.pool import Pool, repair, verify
from coterie.pool.command import main as mas_pool
from coterie.pool.git.undoing import operations_of, undo
from coterie.pool.ledger.changes import Added, EventNoted, Learnt, Restored, Retired, Revised
from coterie.pool.ledger.scaffold import HEAD
from coterie.schema import Agent, Lineage
from coterie.schema.values.errors import InputError, StorageError

from ...support.commands import invoked
from ...support.repositories import Repo, run_git
from ..edited_teams import SEED, child_of, tried, vote

OPERATIONS = 12


def begun(folder: Path) -> Repo:
    """A repository whose pool has two teams, the first its head, an agent and a lesson."""
    repository = Repo(folder)
    pool = Pool.init(folder, shared=True)
    for team in (vote(), vote("Guess.", name="guess")):
        pool.add(team, SEED, op=f"seed/{team.name}")
    pool.commit(EventNoted(what=HEAD, about={"team": "vote"}), op="head")
    genesis = Lineage(operator="genesis")
    pool.commit(Added(member=Agent(id="ada", prompt="Count."), lineage=genesis), op="seed/ada")
    pool.commit(lesson("Carry."), op="old lesson")
    repository.commit("begun")
    return repository


def lesson(text: str, *replaces: str) -> Learnt:
    return Learnt(kind="lesson", task="Add.", text=text, owner="ada", replaces=replaces)


def known(pool: Pool) -> tuple[object, ...]:
    """What a pool's next task begins with."""
    head = pool.head.name if pool.head else None
    agents = {name: agent.agent for name, agent in pool.agents.items()}
    return {*pool.members}, head, agents, sorted(item.text for item in pool.learnt.archive("ada"))


def a_task(pool: Pool, name: str) -> str:
    """Let a task do all that tasks do; give the name of the team that is new."""
    child = child_of(pool, "vote", op=f"{name}/born", prompt=f"As {name} says.")
    pool.commit(EventNoted(what=HEAD, about={"team": child}), op=f"{name}/head")
    pool.commit(Retired(member="vote", reason="It has an heir."), op=f"{name}/retired")
    to = Agent(id="ada", prompt=f"Count as {name} does.")
    pool.commit(Revised(agent="ada", to=to), op=f"{name}/revised")
    pool.commit(lesson(f"{name} carries.", "old lesson"), op=f"{name}/learnt")
    pool.commit(tried(child, name, 1.0), op=f"{name}/trial")
    return child


def test_a_pool_is_what_it_was_and_undoing_that_leads_forward(tmp_path: Path) -> None:
    repository = begun(tmp_path / "pool")
    pool = Pool.open(repository.folder)
    before = known(pool)
    child = a_task(pool, "run/000001")
    repository.commit("a task")
    after = known(pool)
    result = invoked(mas_pool, ["undo", str(repository.folder), "HEAD"], "mas-pool")
    assert (result.code, result.err) == (0, "")
    assert f"{child}: retired" in result.out
    assert "6 lines undone by 6 changes; 1 trial kept" in result.out
    pool = Pool.open(repository.folder)
    assert known(pool) == before
    assert pool.teams[child].statistics.n == 1
    assert not verify(repository.folder).faults
    last = [entry.op for entry in pool.entries()][-1].rpartition("/")[0]
    undo(pool, operations_of(pool, last), reason="It was right.")
    assert known(pool) == after
    assert not verify(repository.folder).faults


def test_members_made_of_what_was_undone_stay_and_are_named(tmp_path: Path) -> None:
    pool = Pool.open(begun(tmp_path / "pool").folder)
    child = a_task(pool, "run/000001")
    heir = child_of(pool, child, op="run/000002/born", max_tokens=9)
    undone = undo(pool, operations_of(pool, "run/000001"), reason="x")
    assert undone.heirs == (heir,)
    assert child not in pool.members
    assert heir in pool.members


def test_a_member_that_is_back_already_does_not_come_back_again(tmp_path: Path) -> None:
    pool = Pool.open(begun(tmp_path / "pool").folder)
    child = a_task(pool, "run/000001")
    pool.commit(Restored(member="vote"), op="back")
    undone = undo(pool, operations_of(pool, "run/000001"), reason="x")
    moved = [change for change in undone.changes if isinstance(change, Retired | Restored)]
    assert moved == [Retired(member=child, reason="x")]
    assert "vote" in pool.members


def test_an_agent_that_was_revised_again_is_left_alone(tmp_path: Path) -> None:
    pool = Pool.open(begun(tmp_path / "pool").folder)
    a_task(pool, "run/000001")
    pool.commit(Revised(agent="ada", to=Agent(id="ada", prompt="Guess.")), op="later")
    before = known(pool)
    with pytest.raises(InputError, match=r"revised again by 'later'\. Undo that operation first"):
        undo(pool, operations_of(pool, "run/000001"), reason="x")
    assert known(pool) == before


@pytest.mark.parametrize("name", ["nothing", "--all", "HEAD", "t9"])
def test_what_nobody_did_is_refused(tmp_path: Path, name: str) -> None:
    folder = begun(tmp_path / "pool").folder
    result = invoked(mas_pool, ["undo", str(folder), "--", name], "mas-pool")
    assert (result.code, result.out) == (2, "")
    assert f"no operation and no task '{name}'" in result.err


def test_the_driver_refuses_a_revert(tmp_path: Path) -> None:
    repository = begun(tmp_path / "pool")
    assert invoked(mas_pool, ["git", str(repository.folder)], "mas-pool").code == 0
    a_task(Pool.open(repository.folder), "run/000001")
    repository.commit("one")
    a_task_of_guess(Pool.open(repository.folder), "run/000002")
    repository.commit("two")
    run_git(repository.folder, "revert", "--no-edit", "HEAD~1", code=1)
    run_git(repository.folder, "revert", "--abort")
    assert not verify(repository.folder).faults


def a_task_of_guess(pool: Pool, name: str) -> None:
    child_of(pool, "guess", op=f"{name}/born", prompt=f"As {name} says.")


def test_a_revert_is_named_and_mended(tmp_path: Path) -> None:
    repository = begun(tmp_path / "pool")
    child = a_task(Pool.open(repository.folder), "run/000001")
    repository.commit("a task")
    a_task_of_guess(Pool.open(repository.folder), "run/000002")
    repository.commit("another")
    run_git(repository.folder, "revert", "--no-edit", "HEAD~1")
    faults = verify(repository.folder).faults
    assert any('Revert "a task"' in fault and "mas-pool undo" in fault for fault in faults)
    assert any(f"teams/{child}.yaml" in fault for fault in faults)
    done = repair(repository.folder)
    assert any('Revert "a task"' in report for report in done)
    assert not verify(repository.folder).faults
    assert child in Pool.open(repository.folder).members


def test_half_a_revert_of_a_retired_team_is_named_and_mended(tmp_path: Path) -> None:
    folder = begun(tmp_path / "pool").folder
    child = a_task(Pool.open(folder), "run/000001")
    Pool.open(folder).commit(Retired(member=child, reason="x"), op="retired")
    path = folder / "teams" / f"{child}.yaml"
    text = path.read_text()
    path.unlink()
    with pytest.raises(StorageError, match=r"no file '.*According to the pool's ledger"):
        Pool.open(folder).commit(Restored(member=child), op="back")
    assert not verify(folder).faults
    path.write_text(text)
    run_git(folder, "add", "--all")
    run_git(folder, "commit", "-q", "-m", "retired")
    path.unlink()
    run_git(folder, "commit", "-q", "-a", "-m", 'Revert "a task"')
    [fault] = verify(folder).faults
    assert f"removed from the pool: teams/{child}.yaml" in fault
    repair(folder)
    assert not verify(folder).faults
    assert Pool.open(folder).commit(Restored(member=child), op="back")


@pytest.mark.parametrize("seed", [2, pytest.param(1, marks=pytest.mark.nightly)])
def test_a_pool_is_sound_after_any_tasks_undone_and_reverted(tmp_path: Path, seed: int) -> None:
    chance, repository = random.Random(seed), begun(tmp_path / "pool")
    folder = repository.folder
    for number in range(OPERATIONS):
        match chance.choice(["task", "task", "undo", "restore", "revert"]):
            case "task":
                pool, name = Pool.open(folder), f"run/{number:06}"
                parent = chance.choice([*pool.members])
                child = child_of(pool, parent, op=f"{name}/born", prompt=f"As {number} says.")
                pool.commit(lesson(f"{number}"), op=f"{name}/learnt")
                pool.commit(tried(child, name, 0.5), op=f"{name}/trial")
            case "undo":
                pool = Pool.open(folder)
                done = sorted({e.op[:10] for e in pool.entries() if e.op.startswith("run/")})
                if done and len(pool.members) > 1:
                    undo(pool, operations_of(pool, chance.choice(done)), reason="x")
            case "restore":
                pool = Pool.open(folder)
                pool.commit(Restored(member=chance.choice([*pool.teams])), op=f"back/{number}")
            case _:
                commits = run_git(folder, "rev-list", "HEAD").split()[:-1]
                if commits:
                    _revert(repository, chance.choice(commits))
        run_git(folder, "add", "--all")
        run_git(folder, "commit", "-q", "--allow-empty", "-m", f"step {number}")
        assert not verify(folder).faults


def _revert(repository: Repo, commit: str) -> None:
    """Revert a commit as a person does; mend what verify then complains about."""
    folder = repository.folder
    try:
        run_git(folder, "revert", "--no-edit", commit)
    except AssertionError:  # a conflict, or nothing to revert
        run_git(folder, "reset", "-q", "--hard", "HEAD")
        return
    if faults := verify(folder).faults:
        assert any("git revert cannot undo" in fault for fault in faults)
        repair(folder)
