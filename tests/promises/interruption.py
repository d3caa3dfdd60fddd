"""Interrupting work on files of state at every point, and looking at what is left."""

import json
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from ..support.processes import with_tests
from . import crash_images
from .crash_images import Recording
from .programs.workloads import WORKLOADS

PROGRAM = Path(__file__).parent / "programs" / "warm.py"
ALONE = ("files", "ledger", "journal")
"""The workloads of one process: when it is killed, nothing of it works on."""

needs_strace = pytest.mark.skipif(
    shutil.which("strace") is None, reason="strace is not installed: it interrupts at system calls"
)


@dataclass(frozen=True, kw_only=True)
class Ended:
    """How a run of a workload ended.

    Attributes:
        status: Its exit code; the negative number of the signal that ended it; or `hangs`.
        text: What is committed, by its own words or from before.
        before: What was in there before, by name.
        said_before: What of it was committed.
    """

    workload: str
    status: int | str
    text: list[str]
    error: str
    folder: Path
    before: Mapping[str, bytes]
    said_before: list[str]

    def check(self) -> None:
        """Look at what it left, go on with the work, and clear that away."""
        WORKLOADS[self.workload].check(self.folder, self.text)
        shutil.rmtree(self.folder)


@dataclass(kw_only=True)
class Interrupter:
    """Runs workloads, each in a folder of its own, and interrupts them."""

    folder: Path
    process: subprocess.Popen[str]
    number: int = 0

    def run(self, workload: str, *, over: Ended | None = None, **how: Any) -> Ended:
        """Run a workload.

        Args:
            over: Go on with what this run left. Without it, begin.
            how: `failpoint`: a setting of `armed`. `strace`: options that make strace
                interrupt. `largest_file`: a limit, in bytes.
        """
        folder = over.folder if over else self._prepared(workload)
        path = folder.with_suffix(".said")
        before = {"before": files_of(folder), "said_before": path.read_text().splitlines()}
        answer = self._ask({"workload": workload, "folder": str(folder), "said": str(path), **how})
        if "refusal" in answer:
            pytest.skip(f"strace may not follow a process here: {answer['refusal'].strip()}")
        lines = path.read_text().splitlines()
        return Ended(workload=workload, text=lines, folder=folder, **before, **answer)

    def failpoints(self, workload: str) -> Mapping[str, int]:
        """Count how often a workload that nothing interrupts comes to each failpoint."""
        counted = self.folder / f"{workload}.count"
        assert self.run(workload, failpoint=f"count:{counted}").status == 0
        return Counter(counted.read_text().split())

    def calls(self, workload: str) -> Mapping[str, int]:
        """Count how often a workload makes each system call that has to do with state.

        Where several threads make one, that which makes the most of them counts: strace counts for
        each on its own.
        """
        trace, _ = self._traced(workload)
        threads = Counter(re.findall(r"^(\d+) +(\w+)\(", trace, re.MULTILINE))
        calls = {call for _, call in threads if call != "writev"}  # by which it tells of commits
        return {
            call: max(threads[thread] for thread in threads if thread[1] == call) for call in calls
        }

    def record(self, workload: str) -> tuple[Recording, Ended]:
        """Record what a workload does to its folder."""
        trace, ended = self._traced(workload)
        return Recording.of(trace, ended.folder, ended.before, ended.said_before), ended

    def _traced(self, workload: str) -> tuple[str, Ended]:
        with tempfile.NamedTemporaryFile("r", encoding="utf-8") as trace:
            ended = self.run(workload, strace=["-o", trace.name, *crash_images.OPTIONS])
            assert ended.status == 0, ended
            return trace.read(), ended

    def _prepared(self, workload: str) -> Path:
        self.number += 1
        folder = self.folder / f"{workload}-{self.number}"
        folder.mkdir()
        texts = WORKLOADS[workload].prepare(folder)
        folder.with_suffix(".said").write_text("".join(f"{line}\n" for line in texts))
        return folder

    def _ask(self, request: dict[str, Any]) -> dict[str, Any]:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        print(json.dumps(request), file=self.process.stdin, flush=True)
        return json.loads(self.process.stdout.readline())


@contextmanager
def interrupting() -> Generator[Interrupter]:
    """Start an interrupter."""
    with (
        in_memory() as folder,
        subprocess.Popen(
            [sys.executable, str(PROGRAM)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=with_tests(),
        ) as process,
    ):
        try:
            yield Interrupter(folder=folder, process=process)
        finally:
            assert process.stdin is not None
            process.stdin.close()


@contextmanager
def in_memory() -> Generator[Path]:
    """Give a folder for the time being, in memory where the system has a place for that.

    What is flushed matters here, not how long a disk takes.
    """
    place = Path("/dev/shm")  # noqa: S108
    with tempfile.TemporaryDirectory(dir=place if place.is_dir() else None) as folder:
        yield Path(folder)


def files_of(folder: Path) -> Mapping[str, bytes]:
    """Return what is in a folder, by name."""
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in paths}
