"""The offline repairs fail as they are, pass once repaired, and a team repairs them in the jail."""

from pathlib import Path

import pytest

from coterie.benchmarks.evaluation.benchmark import Source, find_benchmark
from coterie.benchmarks.repair.benchmark import repair_task
from coterie.benchmarks.repair.instance import touched
from coterie.benchmarks.repair.offline import find_repair, offline_repairs
from coterie.benchmarks.repair.trial import try_patch
from coterie.runtime import run
from coterie.runtime.doubles import Reply, ScriptedModel
from coterie.runtime.jail import Jails
from coterie.schema import InputError

from ...repairs import change, git, needs_jail, offline

NAMES = [repair.instance.instance_id for repair in offline_repairs()]
ONE = [NAMES[0], *(pytest.param(name, marks=pytest.mark.nightly) for name in NAMES[1:])]


def test_there_are_four() -> None:
    assert NAMES == [
        "boltons_backoff", "humanize_naturalsize", "inflection_passerby", "more_itertools_reversed",
    ]  # fmt: skip
    with pytest.raises(InputError, match="Known: boltons_backoff, humanize"):
        find_repair("none")


@pytest.mark.parametrize("name", NAMES)
def test_the_query_gives_nothing_away(name: str) -> None:
    instance = find_repair(name).instance
    task = repair_task(instance, Path(), "niche")
    assert instance.problem_statement.strip() in task.query
    hidden = [*instance.fail_to_pass, *touched(instance.test_patch), "FAIL_TO_PASS"]
    assert not any(text in task.query for text in hidden)
    assert "patch" not in task.answer


@needs_jail
@pytest.mark.parametrize("name", ONE)
async def test_the_release_fails_as_it_is(name: str) -> None:
    repair, repository = offline(name)
    unrelated = change("unrelated.txt", "", "x\n")
    trial = await try_patch(repair.instance, repository, unrelated, Jails())
    assert trial.grade is not None
    assert (trial.grade.status, trial.grade.f2p, trial.grade.p2p) == ("NO", 0, 1)


@needs_jail
@pytest.mark.parametrize("name", ONE)
def test_a_scripted_team_repairs_it(name: str) -> None:
    repair, repository = offline(name)
    task = repair_task(repair.instance, repository, name)
    script = {
        "You are the analyst": Reply(text="The cause is in the code."),
        "You are the engineer": [
            Reply.bash(f"git apply - <<'END'\n{repair.instance.patch}END"),
            Reply.bash("echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT"),
        ],
    }
    with ScriptedModel(script) as model:
        done = run("seed:code_repair", task, model=f"m@{model.api_base}")
    assert done.status == "done", done.error
    assert done.score is not None
    assert (done.score.value, done.score.measures["edits_tests"]) == (1, 0), done.score
    assert touched(done.answer or "") == touched(repair.instance.patch)
    assert git(repository, "status", "--porcelain") == ""


def test_the_benchmark_has_them_as_tasks(tmp_path: Path) -> None:
    for name in NAMES:
        _, repository = offline(name)
        git(tmp_path, "clone", "--quiet", str(repository), name)
    tasks = find_benchmark("repair").tasks(Source(data=tmp_path))
    assert [task.id for task in tasks] == NAMES
    assert [task.niche for task in tasks] == ["boltons", "humanize", "inflection", "more-itertools"]
    assert all(task.repo == tmp_path / task.id for task in tasks)
    assert {task.scorer.name for task in tasks} == {"repair"}
