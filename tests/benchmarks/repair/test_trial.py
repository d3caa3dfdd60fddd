"""What a patch comes to: right, wrong, malformed and hostile ones, each in the jail."""

import asyncio
import sys
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from coterie.benchmarks.repair.grading import Grade
from coterie.benchmarks.repair.instance import Instance
from coterie.benchmarks.repair.trial import PatchTrial, try_patch
from coterie.runtime.jail import Jails
from coterie.runtime.jail.detect import JailReport
from coterie.runtime.jail.tiers import Tier
from coterie.schema.values.errors import InputError

from ...jails import TIERS, holding, require
from ...repairs import CODE, MORE_TESTS, RIGHT, TESTS, change, needs_jail, small_repository

pytestmark = needs_jail

THREE = "test_doubling.py::test_three"


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> tuple[Instance, Path]:
    folder = tmp_path_factory.mktemp("small") / "repository"
    return small_repository(folder), folder


def tried(small: tuple[Instance, Path], patch: str | None, seconds: float = 300) -> PatchTrial:
    instance, folder = small
    return asyncio.run(try_patch(instance, folder, patch, Jails(), seconds=seconds))


def graded(small: tuple[Instance, Path], patch: str) -> Grade:
    """Try a patch that applies, and whose tests run to their end."""
    grade = tried(small, patch).grade
    assert grade is not None
    return grade


def status(trial: PatchTrial) -> str | None:
    return trial.grade and trial.grade.status


def edit(old: str, new: str) -> str:
    """Return a patch of the code."""
    assert old in CODE
    return change("doubling.py", CODE, CODE.replace(old, new))


def test_a_right_patch_is_full(small: tuple[Instance, Path]) -> None:
    grade = graded(small, RIGHT)
    assert (grade.status, grade.f2p_passed) == ("FULL", (THREE,))


def test_a_wrong_patch_is_not(small: tuple[Instance, Path]) -> None:
    grade = graded(small, edit("n + 2", "n + 1"))
    assert grade.f2p_failed == (THREE,)
    assert grade.p2p_failed == ("test_doubling.py::test_two",)


def test_a_repair_that_breaks_something_is_not(small: tuple[Instance, Path]) -> None:
    broken = CODE.replace("n + 2", "n * 2").replace("'double'", "'twice'")
    trial = tried(small, change("doubling.py", CODE, broken))
    assert status(trial) == "NO"
    assert "test_name" in trial.reason


def test_half_a_repair_is_partial(small: tuple[Instance, Path]) -> None:
    instance, folder = small
    both = replace(
        instance,
        test_patch=change(
            "test_doubling.py", TESTS, TESTS + MORE_TESTS + "\n\ndef test_text():\n    double('')\n"
        ),
        fail_to_pass=(THREE, "test_doubling.py::test_text", "test_doubling.py::test_absent"),
    )
    assert status(tried((both, folder), RIGHT)) == "PARTIAL"


def test_code_that_cannot_be_imported_fails_all(small: tuple[Instance, Path]) -> None:
    grade = graded(small, edit("return n + 2", "return n +"))
    assert (grade.f2p, grade.p2p) == (0, 0)


@pytest.mark.parametrize("patch", ["", None])
def test_an_empty_patch_is_not_run(small: tuple[Instance, Path], patch: str | None) -> None:
    assert tried(small, patch) == PatchTrial(applied=False, reason="the patch is empty")


@pytest.mark.parametrize(
    ("patch", "applied"),
    [
        ("\n", False),
        ("I could not find the fault.", False),
        (RIGHT.replace("a/", "").replace("b/", ""), False),
        (RIGHT.replace("doubling", "tripling"), False),
        (RIGHT.replace("-    return n + 2", "-    return n + 7"), False),
        # git takes what stands before a patch for its message; the rest is for `patch`.
        ("Here it is:\n" + RIGHT, True),
        (RIGHT.removesuffix("\n"), True),
        (RIGHT.replace("\n", "\r\n"), True),
        (RIGHT.replace(" def name", " def title"), True),
    ],
    ids=[
        "blank", "prose", "no_prefix", "no_file", "no_place",
        "prose_first", "no_newline", "crlf", "fuzzy",
    ],
)  # fmt: skip
def test_patches_apply_as_there(small: tuple[Instance, Path], patch: str, applied: bool) -> None:
    trial = tried(small, patch)
    assert trial.applied == applied
    assert status(trial) == ("FULL" if applied else None)


def test_a_patch_that_the_base_has_counts_as_applied(small: tuple[Instance, Path]) -> None:
    trial = tried(small, change("doubling.py", CODE.replace("n + 2", "n - 2"), CODE))
    assert (trial.applied, status(trial)) == (True, "NO")


@pytest.mark.parametrize("tier", TIERS, ids=lambda tier: tier.name)
def test_every_kind_of_jail_will_do(
    small: tuple[Instance, Path], tier: Tier, monkeypatch: pytest.MonkeyPatch
) -> None:
    require(tier)
    result = JailReport(tier=tier, attempts=())
    monkeypatch.setattr(sys.modules["coterie.runtime.jail.detect"], "detect", lambda: result)
    assert status(tried(small, RIGHT)) == "FULL"


def test_a_patch_of_tests_alone_is_graded_as_no_change(small: tuple[Instance, Path]) -> None:
    grade = graded(small, change("test_doubling.py", TESTS, "def test_three():\n    pass\n"))
    assert grade.f2p_failed == (THREE,)
    assert grade.p2p == 1


@pytest.mark.parametrize(
    "tests",
    [
        change("test_doubling.py", TESTS, TESTS.replace("'double'", "'other'")),
        "diff --git a/test_doubling.py b/test_doubling.py\ndeleted file mode 100644\n"
        "--- a/test_doubling.py\n+++ /dev/null\n@@ -1,5 +0,0 @@\n"
        + "".join(f"-{line}" for line in TESTS.splitlines(True)),
    ],
    ids=["edits", "deletes"],
)
def test_other_changes_of_tests_do_not_matter(small: tuple[Instance, Path], tests: str) -> None:
    assert status(tried(small, RIGHT + tests)) == "FULL"


def test_a_new_test_of_the_same_name_gives_way(tmp_path: Path) -> None:
    instance = small_repository(tmp_path / "repository")
    moved = replace(
        instance,
        test_patch=change("test_more.py", "", "from doubling import *\n" + MORE_TESTS),
        fail_to_pass=("test_more.py::test_three",),
        pass_to_pass=("test_more.py::test_two", "test_doubling.py::test_name"),
    )
    faked = change("test_more.py", "", "def test_three():\n    pass\n")
    failed = graded((moved, tmp_path / "repository"), faked).f2p_failed
    assert failed == ("test_more.py::test_three",)


@pytest.mark.parametrize(
    "code",
    [
        "import os\nos._exit(0)\n",
        "import sys\nsys.exit(0)\n",
        "import signal, os\nos.kill(os.getpid(), signal.SIGKILL)\n",
        "import atexit, os\natexit.register(os._exit, 3)\n",
    ],
    ids=["exit", "sys_exit", "kill", "exit_code"],
)
def test_a_run_that_is_cut_off_is_not_graded(small: tuple[Instance, Path], code: str) -> None:
    trial = tried(small, change("doubling.py", CODE, code + CODE.replace("n + 2", "n * 2")))
    assert trial == PatchTrial(applied=True, reason="the tests did not run to their end")


def test_a_patch_that_hangs_is_stopped(small: tuple[Instance, Path]) -> None:
    hangs = "import time\n\n\ndef double(n):\n    time.sleep(1000)\n"
    trial = tried(small, change("doubling.py", CODE, hangs + CODE[CODE.index("\n\ndef name") :]), 1)
    assert trial.grade is None
    assert trial.reason == "the tests were stopped: it ran longer than 1 seconds"


def test_a_flood_of_output_hides_no_verdict(small: tuple[Instance, Path]) -> None:
    flood = "import os\n[os.write(2, b'x' * 99_999 + b'\\n') for _ in range(200)]\n"
    assert status(tried(small, change("doubling.py", CODE, flood + CODE))) == "NO"


SHADOWS = {
    "pytest.py": "def main(*_, **__):\n    return 0\n",
    "sitecustomize.py": "import builtins\nbuiltins.cheat = True\nimport doubling\n"
    "doubling.double = lambda n: 2 * n\n",
    "json.py": "dumps = lambda value: '0'\n",
}


def test_no_file_of_the_tree_comes_before_the_test_runner(small: tuple[Instance, Path]) -> None:
    patch = "".join(change(name, "", text) for name, text in SHADOWS.items())
    assert graded(small, patch).f2p_failed == (THREE,)


def test_no_plugin_or_setting_of_the_tree_is_loaded(small: tuple[Instance, Path]) -> None:
    patch = (
        change("fake.py", "", "import doubling\ndoubling.double = lambda n: 2 * n\n")
        + change("fake.dist-info/entry_points.txt", "", "[pytest11]\nfake = fake\n")
        + change("fake.dist-info/METADATA", "", "Metadata-Version: 2.1\nName: fake\nVersion: 1\n")
        + change("pytest.ini", "", "[pytest]\naddopts = -p fake\n")
    )
    assert status(tried(small, patch)) == "NO"


FORGED = {
    "report": "import pytest\n\n\n@pytest.hookimpl(hookwrapper=True)\n"
    "def pytest_runtest_makereport(item, call):\n    report = (yield).get_result()\n"
    "    report.outcome, report.longrepr = 'passed', None\n",
    "code": "import doubling\ndoubling.double = lambda n: 2 * n\n",
    "call": "def pytest_pyfunc_call(pyfuncitem):\n    return True\n",
    "skip": "import sys\n\n\ndef pytest_collection_modifyitems(items):\n"
    "    for item in items:\n        item.obj = lambda: None\n",
    "exit": "def pytest_sessionfinish(session):\n    session.exitstatus = 0\n\n\n"
    "def pytest_runtest_logreport(report):\n    report.outcome = 'passed'\n",
    "print": "import os\n\n\ndef pytest_unconfigure():\n"
    "    print('PASSED test_doubling.py::test_three')\n    os._exit(0)\n",
}


@pytest.mark.parametrize(
    "kind",
    [
        pytest.param(kind, marks=[] if kind in {"report", "exit"} else pytest.mark.nightly)
        for kind in FORGED  # whatever stands in it, it is put back as it was
    ],
)
def test_a_forging_conftest_repairs_nothing(small: tuple[Instance, Path], kind: str) -> None:
    grade = graded(small, change("conftest.py", "", FORGED[kind]))
    assert (grade.status, grade.f2p_failed) == ("NO", (THREE,))


def test_no_file_beside_the_tests_forges_their_results(small: tuple[Instance, Path]) -> None:
    names = (
        *("sitecustomize.py", "usercustomize.py", "_pytest/__init__.py", "_pytest/runner.py"),
        *("pluggy/__init__.py", "src/pytest.py", "py.py", "iniconfig.py", "forge.pth"),
    )
    forged = FORGED["code"] + FORGED["report"]
    assert status(tried(small, "".join(change(name, "", forged) for name in names))) == "NO"


def test_no_setting_loads_a_plugin_that_forges_results(small: tuple[Instance, Path]) -> None:
    settings = {
        "pytest.ini": "[pytest]\naddopts = -p forge\n",
        "tox.ini": "[pytest]\naddopts = -p forge\n",
        "setup.cfg": "[tool:pytest]\naddopts = -p forge\n",
        "pyproject.toml": "[tool.pytest.ini_options]\naddopts = '-p forge'\n",
    }
    patch = "".join(change(name, "", text) for name, text in settings.items())
    forged = change("forge.py", "", FORGED["code"] + FORGED["report"])
    assert status(tried(small, patch + forged)) == "NO"


@pytest.mark.parametrize("name", ["pytest", "sitecustomize"])
def test_programs_that_tests_start_meet_nothing_forged_either(tmp_path: Path, name: str) -> None:
    folder = tmp_path / "repository"
    asks = (
        "\n\ndef test_three():\n    import subprocess, sys\n"
        f"    told = 'import {name}, doubling; print(doubling.double(3))'\n"
        "    assert subprocess.run([sys.executable, '-c', told], stdout=-1).stdout == b'6\\n'\n"
    )
    instance = replace(
        small_repository(folder), test_patch=change("test_doubling.py", TESTS, TESTS + asks),
        pass_to_pass=(),
    )  # fmt: skip
    assert status(tried((instance, folder), change(f"{name}.py", "", FORGED["code"]))) == "NO"


FIXTURE = "import pytest\n\n\n@pytest.fixture\ndef three():\n    return {}\n"


def with_conftest(folder: Path) -> Instance:
    """Return an instance whose repository has a conftest file that its tests need."""
    uses = "\n\ndef test_three(three):\n    assert double(three) == 6\n"
    return replace(
        small_repository(folder, conftest=FIXTURE.format(3)),
        test_patch=change("test_doubling.py", TESTS, TESTS + uses),
        pass_to_pass=("test_doubling.py::test_name",),
    )


def test_a_repair_that_also_edits_the_conftest_counts_by_its_code(tmp_path: Path) -> None:
    small = with_conftest(tmp_path / "repository"), tmp_path / "repository"
    for number in (3, 4):
        edited = change("conftest.py", FIXTURE.format(3), FIXTURE.format(number) + "\n")
        assert status(tried(small, RIGHT + edited)) == "FULL"
    forged = change("conftest.py", FIXTURE.format(3), FORGED["code"] + FIXTURE.format(3))
    assert status(tried(small, forged)) == "NO"
    gone = "diff --git a/conftest.py b/conftest.py\ndeleted file mode 100644\n" + change(
        "conftest.py", FIXTURE.format(3), ""
    ).split("\n", 1)[1].replace("b/conftest.py", "/dev/null")
    assert status(tried(small, RIGHT + gone)) == "FULL"


def test_a_conftest_that_the_known_repair_changes_is_code_like_any_other(tmp_path: Path) -> None:
    instance = with_conftest(tmp_path / "repository")
    fixes = change("conftest.py", FIXTURE.format(3), FIXTURE.format("2 + 1"))
    other = replace(instance, patched_files=("conftest.py",))
    assert status(tried((other, tmp_path / "repository"), RIGHT + fixes)) == "FULL"
    breaks = change("conftest.py", FIXTURE.format(3), FIXTURE.format(5))
    assert status(tried((other, tmp_path / "repository"), RIGHT + breaks)) == "NO"


def test_a_lack_is_named(small: tuple[Instance, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    needed = {"git": "git status", "quilt": "no-such-program"}
    monkeypatch.setattr("coterie.benchmarks.repair.trial.NEEDED", needed)
    with pytest.raises(InputError, match=r"tried with git, quilt\. The jail lacks quilt: install"):
        tried(small, RIGHT)


def test_a_part_of_the_test_runner_cannot_be_graded_here(tmp_path: Path) -> None:
    instance = small_repository(tmp_path / "repository", pluggy__hooks="X = 1\n")
    with pytest.raises(InputError, match=r"a part of pytest itself \(pluggy\)"):
        tried((instance, tmp_path / "repository"), RIGHT)


def test_an_installed_package_does_not_come_before_the_tree(tmp_path: Path) -> None:
    instance = small_repository(tmp_path / "repository", jinja2="WHOSE = 'ours'\n")
    asked = replace(
        instance,
        test_patch=change(
            "test_doubling.py", TESTS, TESTS + "\n\ndef test_three():\n"
            "    import jinja2, os, subprocess, sys\n"
            "    told = 'import jinja2; print(jinja2.WHOSE)'\n"
            "    done = subprocess.run([sys.executable, '-c', told], cwd='/', stdout=-1)\n"
            "    assert done.stdout == b'ours\\n'\n"
            "    assert jinja2.WHOSE == 'ours'\n"
        ),
        pass_to_pass=(),
    )  # fmt: skip
    assert status(tried((asked, tmp_path / "repository"), RIGHT)) == "FULL"


def test_statuses_are_those_of_the_original(tmp_path: Path) -> None:
    tests = (
        "import pytest, unittest\n\n\n"
        "@pytest.fixture\ndef broken():\n    raise ValueError\n\n\n"
        "@pytest.fixture\ndef late():\n    yield\n    raise ValueError\n\n\n"
        "def test_passes():\n    pass\n\n\n"
        "def test_skips():\n    pytest.skip('x')\n\n\n"
        "@pytest.mark.xfail\ndef test_xfails():\n    assert 0\n\n\n"
        "@pytest.mark.xfail\ndef test_xpasses():\n    pass\n\n\n"
        "def test_fails():\n    assert 0\n\n\n"
        "def test_setup(broken):\n    pass\n\n\n"
        "def test_teardown(late):\n    pass\n\n\n"
        "@pytest.mark.parametrize('x', ['a b', 'ü/['])\ndef test_names(x):\n    pass\n"
    )
    names = ("passes", "skips", "xfails", "xpasses", "fails", "setup", "teardown", "names[a b]")
    listed = tuple(f"test_all.py::test_{name}" for name in (*names, "names[\\xfc/[]", "names[a"))
    asked = replace(
        small_repository(tmp_path / "repository"),
        test_patch=change("test_all.py", "", tests),
        fail_to_pass=listed,
        pass_to_pass=listed,
    )
    verdict = graded((asked, tmp_path / "repository"), RIGHT)
    passed = {name.split("test_")[-1] for name in verdict.f2p_passed}
    assert passed == {"passes", "xfails", "names[a b]", "names[\\xfc/[]", "names[a"}
    assert set(verdict.p2p_passed) - set(verdict.f2p_passed) == {"test_all.py::test_skips"}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"fail_to_pass": ("test_x (app.tests.Case)",)}, "only tests that pytest runs"),
        ({"fail_to_pass": (), "pass_to_pass": ()}, "only tests that pytest runs"),
        ({"test_patch": change("none.py", "a\n", "b\n")}, "does not apply to its base commit"),
        ({"base_commit": "1" * 40}, "cannot be used"),
    ],
)
def test_an_instance_that_cannot_be_graded_is_no_score(
    small: tuple[Instance, Path], changes: dict[str, object], message: str
) -> None:
    instance, folder = small
    with pytest.raises(InputError, match=message):
        tried((replace(instance, **changes), folder), RIGHT)  # pyright: ignore[reportArgumentType]


def test_a_cancelled_trial_leaves_nothing_running(small: tuple[Instance, Path]) -> None:
    instance, folder = small
    mark = "test_doubling.py::test_that_is_cancelled"
    waits = change("doubling.py", CODE, "import time\ntime.sleep(1000)\n" + CODE)

    async def cancelled() -> None:
        asked = replace(instance, test_directives=(mark,))
        trial = asyncio.create_task(try_patch(asked, folder, waits, Jails()))
        while not holding(mark):
            assert not trial.done(), trial
            await asyncio.sleep(0.01)
        trial.cancel()
        with pytest.raises(asyncio.CancelledError):
            await trial

    asyncio.run(cancelled())
    assert not holding(mark)
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("repair-")]
