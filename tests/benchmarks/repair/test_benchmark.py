"""The benchmark `swe-bench`: instances and clones that the user has."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from coterie.benchmarks.evaluation.benchmark import Source, find_benchmark
from coterie.benchmarks.evaluation.choosing import TaskChoice
from coterie.benchmarks.repair.instance import Instance
from coterie.schema.values.errors import InputError

from ...repairs import CODE, git, small_repository


def folder_of(tmp_path: Path) -> tuple[Path, Instance]:
    """Make the folder of a user whose clone has the repair in its history already."""
    data, source = tmp_path / "data", tmp_path / "source"
    instance = small_repository(source)
    (source / "doubling.py").write_text(CODE.replace("n + 2", "n * 2"), encoding="utf-8")
    git(source, "commit", "--quiet", "--all", "--message", "the repair")
    (data / "repositories").mkdir(parents=True)
    git(data, "clone", "--quiet", "--mirror", str(source), "repositories/small__doubling")
    fields = instance.reference() | {"problem_statement": "double(3) gives 5."}
    fields["FAIL_TO_PASS"] = json.dumps(fields["FAIL_TO_PASS"])
    (data / "instances.jsonl").write_text(json.dumps(fields) + "\n", encoding="utf-8")
    return data, instance


def test_tasks_name_the_commit_of_the_clone(tmp_path: Path) -> None:
    data, instance = folder_of(tmp_path)
    for _ in range(2):
        (task,) = find_benchmark("swe-bench").tasks(Source(data=data))
        assert task.id == "small__doubling-1"
        assert task.niche == "small/doubling"
        assert "double(3) gives 5." in task.query
        assert task.repo == data / "repositories" / "small__doubling"
        assert task.commit == instance.base_commit


def test_what_is_missing_is_told(tmp_path: Path) -> None:
    tasks = find_benchmark("swe-bench").tasks
    with pytest.raises(InputError, match="--data DIR: one file of instances"):
        tasks(Source())
    data, instance = folder_of(tmp_path)
    other = replace(instance, repo="some/other").reference()
    (data / "instances.jsonl").write_text(json.dumps(other), encoding="utf-8")
    source = Source(data=data)
    with pytest.raises(InputError, match="git clone --mirror <address of some/other>"):
        find_benchmark("swe-bench").prepare(source, tasks(source))
    (data / "more.json").write_text("[]", encoding="utf-8")
    with pytest.raises(InputError, match=r"exactly one file.*: instances\.jsonl, more\.json"):
        tasks(Source(data=data))


def test_only_what_is_chosen_is_prepared(tmp_path: Path) -> None:
    data, instance = folder_of(tmp_path)
    absent = {"repo": "not/cloned", "environment": {"requirements": ["no-such-package"]}}
    unlike = {"FAIL_TO_PASS": ["test_x (app.tests.Case)"]}
    rows = [{**instance.reference(), **fields} for fields in ({}, absent, unlike)]
    named = [{**row, "instance_id": f"one-{number}"} for number, row in enumerate(rows)]
    (data / "instances.jsonl").write_text("\n".join(map(json.dumps, named)), encoding="utf-8")
    benchmark, source = find_benchmark("swe-bench"), Source(data=data)
    chosen = TaskChoice(instances=["*-0"]).of(benchmark.tasks(source))
    assert [task.id for task in chosen] == ["one-0"]
    benchmark.prepare(source, chosen)
    for pattern, message in (("*-1", "not__cloned"), ("*-2", "only tests that pytest runs")):
        with pytest.raises(InputError, match=message):
            benchmark.prepare(source, TaskChoice(instances=[pattern]).of(benchmark.tasks(source)))


def test_no_release_is_fetched_before_it_is_chosen(tmp_path: Path) -> None:
    tasks = find_benchmark("repair").tasks(Source(data=tmp_path))
    assert len(tasks) == 4
    assert not list(tmp_path.iterdir())
