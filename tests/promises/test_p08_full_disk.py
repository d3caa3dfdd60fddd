"""P8: a disk that is full, broken or read-only gives one clear error, and the work can go on."""

import itertools
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from ..conftest import Draw
from ..support.processes import with_tests
from .interruption import ALONE, Ended, Interrupter, interrupting, needs_strace

PROGRAM = Path(__file__).parent / "programs" / "mounts.py"
ERRORS = ("ENOSPC", "EIO", "EDQUOT", "EROFS")


@pytest.fixture(scope="module")
def interrupter() -> Iterator[Interrupter]:
    with interrupting() as interrupter:
        yield interrupter


@pytest.mark.parametrize("workload", ALONE)
def test_a_failure_at_any_failpoint(interrupter: Interrupter, workload: str, drawn: Draw) -> None:
    failures = [
        f"{name}:{number}:{action}"
        for name, times in interrupter.failpoints(workload).items()
        for number in range(1, times + 1)
        for action in ("raise-enospc", "raise-eio")
    ]
    assert len(failures) >= 30
    for failure in drawn(failures):
        ended = interrupter.run(workload, failpoint=failure)
        assert ended.status == 1, ended
        is_clear(ended)
        ended.check()


@needs_strace
@pytest.mark.parametrize(("workload", "least"), [("files", 80), ("ledger", 120), ("journal", 65)])
def test_a_failure_of_any_system_call(
    interrupter: Interrupter, workload: str, least: int, nightly: bool, drawn: Draw
) -> None:
    """A call whose failure costs nothing may fail without a word: the removal of a leftover."""
    errors = itertools.cycle(ERRORS)
    failures = [
        (call, f"inject={call}:error={error}:when={number}")
        for call, times in interrupter.calls(workload).items()
        for number in range(1, times + 1)
        for error in (ERRORS if nightly else [next(errors)])
    ]
    failed, tried = 0, drawn(failures)
    for call, inject in tried:
        ended = interrupter.run(
            workload, strace=["-o", "/dev/null", "-e", f"trace={call}", "-e", inject]
        )
        assert ended.status in {0, 1}, (inject, ended)
        if ended.status == 1:
            is_clear(ended)
            failed += 1
        ended.check()
    assert len(failures) >= least
    assert failed >= len(tried) * least // len(failures) - 1


@pytest.mark.parametrize("workload", ALONE)
def test_a_limit_on_file_sizes(interrupter: Interrupter, workload: str, nightly: bool) -> None:
    failed = 0
    for largest in range(1000, 41_000, 1000 if nightly else 8000):
        ended = interrupter.run(workload, largest_file=largest)
        assert ended.status in {0, 1}, ended
        if ended.status == 1:
            is_clear(ended)
            failed += 1
        ended.check()
    assert failed >= (10 if nightly else 1)


def is_clear(ended: Ended) -> None:
    """One line that names the file, and no traceback."""
    assert ended.error.count("\n") == 1
    assert ended.error.startswith(str(ended.folder))


def in_own_mounts(*command: str) -> list[str]:
    """Return a command that can mount what nobody else sees; skips where that may not be."""
    namespaces = ["--mount"] if os.geteuid() == 0 else ["--user", "--map-root-user", "--mount"]
    start = ["unshare", *namespaces]
    possible = (
        shutil.which("unshare")
        and not subprocess.run(
            [*start, "mount", "-t", "tmpfs", "tmpfs", "/mnt"], capture_output=True, check=False
        ).returncode
    )
    if not possible:
        pytest.skip("a disk of its own cannot be mounted here: that takes root or namespaces")
    return [*start, *command]


@pytest.mark.parametrize(("kind", "least"), [("full", 20), ("read-only", 3)])
def test_a_full_or_read_only_disk(tmp_path: Path, kind: str, least: int, nightly: bool) -> None:
    words = [kind, str(tmp_path), *(["--every-page"] if nightly else [])]
    command = in_own_mounts(sys.executable, str(PROGRAM), *words)
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=with_tests())
    assert done.returncode == 0, done.stderr
    results = [json.loads(line) for line in done.stdout.splitlines()]
    failed = [result for result in results if result["error"]]
    assert {result["workload"] for result in failed} == set(ALONE)
    assert all(result["error"].startswith(str(tmp_path / "state")) for result in failed)
    assert all("\n" not in result["error"] for result in failed)
    assert len(failed) >= (least if nightly else 3)
