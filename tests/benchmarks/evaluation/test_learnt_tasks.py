"""Teams are not tested on what they have evolved on, nor on what they recall."""

from pathlib import Path

import pytest

from coterie.benchmarks.evaluation.learnt_tasks import refuse_learnt
from coterie.pool import Pool, Trial
from coterie.pool.ledger.changes import Evaluated
from coterie.pool.ledger.learnt import Learnt
from coterie.schema import InputError, Task, load_team

TASKS = [Task(id=name, query=f"What is {name}?") for name in ("a", "b", "c")]


@pytest.fixture
def seed(tmp_path: Path) -> Path:
    (tmp_path / "solo.yaml").write_text('name: solo\nagents:\n  one: {prompt: "You are alone."}\n')
    return tmp_path / "solo.yaml"


@pytest.fixture
def pool(seed: Path, tmp_path: Path) -> Pool:
    pool = Pool.init(tmp_path / "pool", [seed])
    pool.commit(Evaluated(member="solo", trial=Trial(task="b", score=1.0)), op="1")
    pool.commit(Evaluated(member="solo", trial=Trial(task="c", score=1.0, split="test")), op="2")
    return pool


def refused(path: Path, tasks: list[Task], *, pool: Path | None = None) -> str | None:
    try:
        refuse_learnt(tasks, "sums", team=load_team(path), path=path, pool=pool)
    except InputError as error:
        return str(error)
    return None


def test_other_tasks_pass_and_so_do_those_of_the_test_split(pool: Pool) -> None:
    assert refused(pool.folder / "teams" / "solo.yaml", [TASKS[0], TASKS[2]]) is None


def test_a_team_that_failed_on_a_task_has_met_it_too(pool: Pool) -> None:
    pool.commit(Evaluated(member="solo", trial=Trial(task="a", reason="no answer")), op="3")
    assert "'a'" in str(refused(pool.folder / "teams" / "solo.yaml", [TASKS[0]]))


def test_a_team_outside_a_pool_has_seen_nothing(pool: Pool, seed: Path) -> None:
    assert refused(seed, TASKS) is None


def test_a_team_has_seen_what_the_pool_has_that_it_recalls_from(pool: Pool, seed: Path) -> None:
    lesson = Learnt(kind="experience", task="WHAT  is\nC?", text="It is a letter.")
    pool.commit(lesson, op="lesson")
    text = str(refused(seed, [TASKS[2]], pool=pool.folder))
    assert f"{pool.folder}/ledger.jsonl:5 by its words" in text


def test_a_team_that_left_its_pool_still_says_what_it_was_made_on(tmp_path: Path) -> None:
    path = tmp_path / "child.yaml"
    path.write_text(
        'name: child\nagents:\n  one: {prompt: "You are alone."}\n'
        "lineage: {operator: mutate, parents: [solo], task: c}\n"
    )
    assert f"the task of the lineage of {path}" in str(refused(path, TASKS))
    assert refused(path, TASKS[:2]) is None
