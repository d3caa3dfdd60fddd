"""An instance from a repository, a fix and its tests, that the adapter then reads."""

import asyncio
import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from coterie.benchmarks.repair.__main__ import main as repair
from coterie.benchmarks.repair.trial import PatchTrial
from coterie.runtime.jail import Jails
from studies.repair.__main__ import main
from studies.repair.derive import derive
from studies.repair.derive import test_files_of as files_of_tests

from ..repairs import CODE, MORE_TESTS, RIGHT, TESTS, change, needs_jail, small_repository

NEVER = "\n\ndef test_never():\n    assert double(1) == 7\n"
BROKEN = "\n\ndef test_broken():\n    assert double(3) == 5\n"


def derived(folder: Path, tests: str, fix: str = RIGHT, *words: str) -> Result:
    """Derive an instance of the small repository into folder/data/instances.jsonl."""
    clone = folder / "data" / "repositories" / "small__doubling"
    clone.parent.mkdir(parents=True, exist_ok=True)
    if not clone.exists():
        (folder / "base").write_text(small_repository(clone).base_commit)
    (folder / "fix").write_text(fix)
    (folder / "tests").write_text(change("test_doubling.py", TESTS, TESTS + tests))
    (folder / "report").write_text("double(3) gives 5.")
    given = {name: folder / name for name in ("fix", "tests", "report")}
    options = [f"--{name}={path}" for name, path in given.items()]
    options += [f"--repository={clone}", f"--base={(folder / 'base').read_text()}"]
    target = str(folder / "data" / "instances.jsonl")
    return CliRunner().invoke(main, ["small-1", target, *options, *words])


@needs_jail
def test_an_instance_is_derived_and_graded(tmp_path: Path) -> None:
    done = derived(tmp_path, MORE_TESTS + NEVER + BROKEN, RIGHT, "--repeats=1")
    assert done.output.splitlines() == [
        "broken by the fix, left out: test_doubling.py::test_broken",
        "fails before and after, left out: test_doubling.py::test_never",
        f"{tmp_path}/data/instances.jsonl: small-1 with 1 FAIL_TO_PASS and 2 PASS_TO_PASS",
    ]
    row = json.loads((tmp_path / "data" / "instances.jsonl").read_text())
    assert row["FAIL_TO_PASS"] == ["test_doubling.py::test_three"]
    assert row["PASS_TO_PASS"] == ["test_doubling.py::test_name", "test_doubling.py::test_two"]
    assert row["repo"] == "small/doubling"
    logs = str(tmp_path / "logs")
    words = ["grade", "gold", "--data", str(tmp_path / "data"), "--json", "--logs", logs]
    graded = CliRunner().invoke(repair, words)
    report = json.loads(graded.output)
    assert report["counts"]["resolved"] == 1
    assert report["instances"]["small-1"]["FAIL_TO_PASS"]["success"] == row["FAIL_TO_PASS"]
    assert "2 failed, 3 passed" in (tmp_path / "logs" / "small-1.log").read_text()
    again = derived(tmp_path, MORE_TESTS, RIGHT, "--repeats=1")
    assert (again.exit_code, "exists already" in again.output) == (2, True)
    none = CliRunner().invoke(repair, [*words, "--instances", "large-*"])
    assert (none.exit_code, "matches none of the 1 ids" in none.output) == (2, True)


def test_a_flaky_test_is_told_and_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = [{"f::a": "FAILED", "f::b": "PASSED", "f::c": "PASSED", "f": "ERROR"}] * 2
    after = [
        {"f::a": "PASSED", "f::b": "PASSED", "f::c": "PASSED", "f::d": "XFAIL"},
        {"f::a": "PASSED", "f::b": "SKIPPED", "f::c": "XFAIL"},
    ]
    ends = iter([*before, *after])

    async def observed(*_: object, **__: object) -> PatchTrial:
        return PatchTrial(applied=True, reason="", statuses=next(ends))

    monkeypatch.setattr("studies.repair.derive.observe", observed)
    instance = small_repository(tmp_path / "repository")
    result = asyncio.run(derive(instance, tmp_path / "repository", Jails(), repeats=2))
    assert result.instance.fail_to_pass == ("f::a",)
    assert result.instance.pass_to_pass == ("f::c",)
    assert result.flaky == ("f::b", "f::d")


@needs_jail
@pytest.mark.parametrize(
    ("tests", "fix", "message"),
    [
        (NEVER, RIGHT, "the fix makes no test pass that failed before: 1 always pass, 1 never"),
        (MORE_TESTS, change("doubling.py", CODE, CODE + "\n"), "makes no test pass"),
        (MORE_TESTS, "no patch\n", "after the fix, nothing is known of the tests: the patch"),
    ],
)
def test_useless_fixes_make_nothing(tmp_path: Path, tests: str, fix: str, message: str) -> None:
    done = derived(tmp_path, tests, fix, "--repeats=1")
    assert (done.exit_code, message in done.output) == (2, True)
    assert not (tmp_path / "data" / "instances.jsonl").exists()


def test_files_of_tests_are_known_by_their_names() -> None:
    names = ("pkg/test_a.py", "b_test.py", "tests.py", "tests/data.txt", "tests/conftest.py")
    patch = "".join(change(name, "", "x\n") for name in names)
    assert files_of_tests(patch) == names[:3]
