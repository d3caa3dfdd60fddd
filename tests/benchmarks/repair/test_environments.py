"""Environments of instances: made once, used in the jail, and refused before anything is spent."""

import re
import sys
import venv
from dataclasses import replace
from importlib.metadata import files, requires
from pathlib import Path

import pytest

from coterie.benchmarks.evaluation.benchmark import Source, find_benchmark
from coterie.benchmarks.repair.benchmark import repair_task
from coterie.benchmarks.repair.environments import Environment, parse_environment
from coterie.benchmarks.repair.instance import Instance
from coterie.runtime.scoring.scorers import ScorerError
from coterie.schema.values.codec import to_value
from coterie.schema.values.errors import InputError

from ...repairs import RIGHT, TESTS, change, needs_jail, small_repository
from ...scoring import found


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("pytest", "must be an object with python, requirements, venv"),
        ({}, "must be an object"),
        ({"packages": []}, "must be an object"),
        ({"requirements": "pytest"}, "must be a list of packages"),
        ({"requirements": ["--index-url=there"]}, "without options of the package client"),
        ({"requirements": [" "]}, "must be a list of packages"),
        ({"python": 3}, "must be text"),
        ({"python": "-x"}, "must be text"),
        ({"venv": "here"}, "must be an absolute path"),
        ({"venv": "/there", "python": "3.9"}, "stand alone"),
    ],
)
def test_an_environment_that_is_none(value: object, message: str) -> None:
    with pytest.raises(InputError, match=f"here: .*{message}"):
        parse_environment(value, "here")


def test_what_is_alike_is_made_once(tmp_path: Path) -> None:
    first, second = (Environment(requirements=(word,)) for word in ("pytest==7", "pytest==8"))
    assert first.folder(tmp_path) == replace(first).folder(tmp_path) != second.folder(tmp_path)
    assert parse_environment(to_value(first), "here") == first


def test_an_environment_that_cannot_be_had_is_told_and_leaves_nothing(tmp_path: Path) -> None:
    python = str(tmp_path / "no-python")
    with pytest.raises(InputError, match=r"the environment \{.*\} cannot be made"):
        Environment(python=python).ensure(tmp_path / "environments")
    assert not [path for path in (tmp_path / "environments").iterdir() if path.is_dir()]
    with pytest.raises(InputError, match="the environment's interpreter does not run"):
        Environment(venv=str(tmp_path)).ensure(tmp_path)


def test_an_environment_without_pytest_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"has no pytest\. Name it among 'requirements'"):
        Environment(python=_bare()).ensure(tmp_path)


def _bare() -> str:
    """Return an interpreter outside of any environment."""
    return str(Path(sys.base_prefix, "bin", "python3"))


def with_environment(folder: Path, environment: Environment) -> Instance:
    """Return an instance whose test asks in which environment it runs."""
    asks = "\n\ndef test_three():\n    import os\n    assert os.environ['VIRTUAL_ENV'] == {!r}\n"
    return replace(
        small_repository(folder),
        test_patch=change("test_doubling.py", TESTS, TESTS + asks.format(environment.venv)),
        pass_to_pass=("test_doubling.py::test_name",),
        environment=environment,
    )


def make_environment(folder: Path, package: str) -> None:
    """Make a virtual environment that has a package of ours, with what the package needs."""
    venv.create(folder, symlinks=True)
    [packages] = folder.glob("lib/python*/site-packages")
    waiting, known = [package], set[str]()
    while waiting:
        known.add(name := waiting.pop())
        for file in files(name) or ():
            if file.suffix == ".py":
                target = packages / file
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(file.read_binary())
        needed = (re.split(r"[^\w.-]", word) for word in requires(name) or () if ";" not in word)
        waiting += [other for other, *_ in needed if other not in known]


@needs_jail
def test_tests_run_in_the_environment_that_the_instance_names(tmp_path: Path) -> None:
    there = tmp_path / "environment"
    make_environment(there, "pytest")
    instance = with_environment(tmp_path / "repository", Environment(venv=str(there)))
    task = repair_task(instance, tmp_path / "repository", "small")
    find_benchmark("swe-bench").prepare(Source(data=tmp_path), [task])
    result = found(task, RIGHT)
    assert result.value == 1, result.log
    assert "ended with 0" in result.log


def test_a_task_whose_environment_is_gone_is_no_score(tmp_path: Path) -> None:
    gone = Environment(venv=str(tmp_path / "gone"))
    task = repair_task(with_environment(tmp_path / "r", gone), tmp_path / "r", "small")
    with pytest.raises(ScorerError, match=r"the environment .*gone does not exist"):
        found(task, RIGHT)
    with pytest.raises(InputError, match="the environment's interpreter"):
        find_benchmark("swe-bench").prepare(Source(data=tmp_path), [task])
