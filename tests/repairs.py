"""What tests of repairs need: the releases to repair, a jail, and small repositories of our own."""

import functools
import subprocess
from difflib import unified_diff
from pathlib import Path
from shutil import which

import pytest

from coterie.benchmarks.repair.instance import Instance
from coterie.benchmarks.repair.offline import OfflineRepair, find_repair, repositories_dir
from coterie.benchmarks.repair.working_copies import commit_all
from coterie.runtime.jail.detect import detect
from coterie.schema.values.errors import InputError

needs_jail = pytest.mark.skipif(
    detect().tier is None or which("patch") is None,
    reason="this machine has no jail for agents' code, or no program `patch`",
)
GIT = ("git", "-c", "user.name=test", "-c", "user.email=test@localhost")

CODE = "def double(n):\n    return n + 2\n\n\ndef name():\n    return 'double'\n"
"""What the small repository has: `double` is wrong but for 2."""
TESTS = "from doubling import double, name\n\n\ndef test_name():\n    assert name() == 'double'\n"
MORE_TESTS = """

def test_three():
    assert double(3) == 6


def test_two():
    assert double(2) == 4
"""


def change(name: str, old: str, new: str) -> str:
    """Return the patch between two texts of a file; an empty old one: the file is new."""
    source = f"a/{name}" if old else "/dev/null"
    lines = unified_diff(old.splitlines(True), new.splitlines(True), source, f"b/{name}")
    mode = "" if old else "new file mode 100644\n"
    return f"diff --git a/{name} b/{name}\n{mode}" + "".join(lines)


HIDDEN = change("test_doubling.py", TESTS, TESTS + MORE_TESTS)
RIGHT = change("doubling.py", CODE, CODE.replace("n + 2", "n * 2"))


def offline(name: str) -> tuple[OfflineRepair, Path]:
    """Return an offline repair and its repository; skip where its release cannot be fetched."""
    repair = find_repair(name)
    reason = _unfetched(name)
    if reason:
        pytest.skip(f"the release cannot be fetched here: {reason}")
    return repair, repair.repository(repositories_dir())


@functools.cache
def _unfetched(name: str) -> str | None:
    try:
        find_repair(name).repository(repositories_dir())
    except InputError as error:
        if "could not be fetched" in str(error):
            return str(error)
        raise
    return None


def small_repository(folder: Path, **files: str) -> Instance:
    """Make the repository of `doubling` with more files, and give the instance to repair.

    Args:
        folder: A new folder.
        files: Texts by name; `__` stands for a slash, and `.py` is added.
    """
    folder.mkdir()
    texts = {"doubling": CODE, "test_doubling": TESTS, **files}
    for name, text in texts.items():
        path = folder / f"{name.replace('__', '/')}.py"
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return Instance(
        instance_id="small__doubling-1",
        repo="small/doubling",
        base_commit=commit_all(folder, "doubling"),
        problem_statement="double(3) gives 5.",
        test_patch=HIDDEN,
        fail_to_pass=("test_doubling.py::test_three",),
        pass_to_pass=("test_doubling.py::test_name", "test_doubling.py::test_two"),
        patch=RIGHT,
    )


def git(folder: Path, *arguments: str) -> str:
    """Run git in a folder and give what it prints."""
    done = subprocess.run(
        [*GIT, *arguments], cwd=folder, capture_output=True, text=True, check=True
    )
    return done.stdout
