"""The end of processes in a jail, on every tier that this machine has."""

import contextlib
import errno
import os
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import pytest

from coterie.runtime.jail import Jail, JailKilled, PythonWorker, Shell
from coterie.runtime.jail.detect import try_tier
from coterie.runtime.jail.layout import Confinement
from coterie.runtime.jail.tiers import Bubblewrap, Tier, TierCommand, Unconfined
from coterie.schema import JailError

from ...jails import TIERS, USERS, command, holding, require
from ...waiting import wait_for

# Starts a process that left its session and ignores what can be ignored, and one that did not.
STRAYS = "(trap '' TERM INT HUP; setsid sleep {mark} & ) & sleep {mark} & sleep {mark}"
HOST = """
import tempfile
from pathlib import Path
from coterie.runtime.jail import Jail, Shell
with tempfile.TemporaryDirectory() as work, Jail(Path(work), tier=tier) as jail:
    Shell(jail).run(sys.argv[2], timeout=600)
"""
STARTER = """
import tempfile
from pathlib import Path
from coterie.runtime.jail import Jail
with tempfile.TemporaryDirectory() as work, Jail(Path(work), tier=tier) as jail:
    jail.start(sys.argv[2].split()).wait()
"""
# Takes the place of bubblewrap, and holds it at a moment of its start.
HELD = """\
#!{python} -IS
import os, sys
words = sys.argv[1:]
ends = os.pipe()
for end in ends:
    os.set_inheritable(end, True)
if {moment!r} == "before its child goes on":
    os.set_blocking(ends[1], False)
    try:
        while True:
            os.write(ends[1], bytes(4096))
    except BlockingIOError:
        os.set_blocking(ends[1], True)
    os.dup2(ends[1], int(words[words.index("--info-fd") + 1]))
else:
    words = ["--block-fd", str(ends[0]), *words]
os.execv({bwrap!r}, ["bwrap", *words])
"""


@dataclass(frozen=True)
class Changed:
    """A tier whose line is changed before it starts."""

    tier: Tier
    change: Callable[[list[str], TierCommand], list[str]]

    def __getattr__(self, name: str) -> Any:
        return getattr(self.tier, name)

    def command(
        self, confinement: Confinement, command: Sequence[str], line: TierCommand
    ) -> list[str]:
        return self.change(self.tier.command(confinement, command, line), line)


def without_groups(start: Callable[..., Any]) -> Callable[..., Any]:
    def refusing(*words: Any, **how: Any) -> Any:
        if how.get("process_group") == 0:
            raise OSError(errno.EAGAIN, os.strerror(errno.EAGAIN))
        return start(*words, **how)

    return refusing


def descriptors() -> set[str]:
    return {path.name for path in Path("/proc/self/fd").iterdir()}


@pytest.fixture(params=[*TIERS, Unconfined()], ids=lambda tier: tier.name)
def tier(request: pytest.FixtureRequest) -> Tier:
    require(request.param)
    return request.param


@pytest.fixture
def mark() -> str:
    """Seconds to sleep for that no other process sleeps for."""
    return f"{10**9 + secrets.randbelow(10**9)}.5"


def test_nothing_outlives_the_time_of_a_command(tmp_path: Path, tier: Tier, mark: str) -> None:
    with Jail(tmp_path, tier=tier) as jail:
        done = Shell(jail).run(STRAYS.format(mark=mark), timeout=1.0)
        assert done.timed_out
        assert holding(mark) == []


def test_nothing_outlives_a_command_that_ends(tmp_path: Path, tier: Tier, mark: str) -> None:
    with Jail(tmp_path, tier=tier) as jail:
        done = Shell(jail).run(f"(setsid sleep {mark} & ); sleep {mark} & echo over")
        assert (done.output, done.returncode, done.stopped) == ("over\n", 0, None)
        assert holding(mark) == []


def test_nothing_outlives_an_ended_interpreter(tmp_path: Path, tier: Tier, mark: str) -> None:
    code = f"import os; os.system('setsid sleep {mark} & sleep {mark} &'); os._exit(0)"
    with Jail(tmp_path, tier=tier) as jail:
        assert "ended its interpreter" in (PythonWorker(jail).execute(code).error or "")
        assert holding(mark) == []


@pytest.mark.parametrize(
    ("user", "ending"),
    [(USERS[0], signal.SIGKILL), (USERS[1], signal.SIGKILL), (USERS[1], signal.SIGINT)],
)
def test_nothing_outlives_the_host(
    tier: Tier, user: str, mark: str, ending: signal.Signals
) -> None:
    require(tier, user)
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o777)
        with subprocess.Popen(
            command(user, HOST, tier, STRAYS.format(mark=mark)),
            stderr=subprocess.DEVNULL,
            env=os.environ | {"TMPDIR": folder},
        ) as host:
            try:
                wait_for(lambda: len(holding(mark)) == 3, "the command did not start")
                host.send_signal(ending)
                wait_for(lambda: holding(mark) == [], "something is left")
                host.wait()
            finally:
                host.kill()
        if ending is not signal.SIGKILL:
            assert list(Path(folder).iterdir()) == []


@pytest.mark.parametrize("moment", ["before its child goes on", "while its child mounts"])
@pytest.mark.parametrize("user", USERS)
def test_nothing_outlives_a_host_killed_during_a_start(user: str, mark: str, moment: str) -> None:
    tier = Bubblewrap()
    require(tier, user)
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o777)
        program = Path(folder, "bwrap")
        bwrap = shutil.which("bwrap")
        program.write_text(HELD.format(python=sys.executable, moment=moment, bwrap=bwrap))
        program.chmod(0o755)
        with subprocess.Popen(
            command(user, STARTER, tier, f"sleep {mark}"),
            stderr=subprocess.DEVNULL,
            env=os.environ | {"TMPDIR": folder, "PATH": f"{folder}:{os.environ['PATH']}"},
        ) as host:
            wait_for(lambda: len(holding(mark)) == 2, "bubblewrap and its child did not start")
            host.kill()
        try:
            wait_for(lambda: holding(mark) == [], "something is left")
        finally:
            for left in holding(mark):
                os.kill(int(left), signal.SIGKILL)


def test_nothing_starts_for_a_host_that_has_ended(tmp_path: Path, tier: Tier) -> None:
    def by_another(words: list[str], _: TierCommand) -> list[str]:
        start = "import subprocess, sys; subprocess.call(sys.argv[1:], close_fds=False)"
        return [sys.executable, "-c", start, *words]

    with (
        Jail(tmp_path, tier=cast("Tier", Changed(tier, by_another))) as jail,
        contextlib.suppress(JailError),
        contextlib.closing(jail.start(["touch", "written"])) as process,
    ):
        process.wait()
    assert list(tmp_path.iterdir()) == []


def test_code_does_not_start_once_the_host_has_ended(tmp_path: Path, tier: Tier) -> None:
    if not tier.has_mounts:
        pytest.skip("without mounts, one process ends all others")

    def ended(words: list[str], line: TierCommand) -> list[str]:
        assert line.alive is not None
        read, write = os.pipe()
        os.close(write)
        os.dup2(read, line.alive)
        os.close(read)
        return words

    with Jail(tmp_path, tier=cast("Tier", Changed(tier, ended))) as jail:
        process = jail.start(["touch", "written"])
        assert process.stdout.read() == b"the process that asked for the jail has ended\n"
        assert process.wait() == 1
        process.close()
    assert list(tmp_path.iterdir()) == []


def test_a_jail_without_its_group_says_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    require(Bubblewrap())
    before = descriptors()
    monkeypatch.setattr(subprocess, "Popen", without_groups(subprocess.Popen))
    with pytest.raises(JailError, match=r"process group did not start: .*unavailable"):
        Jail(tmp_path, tier=Bubblewrap())
    assert descriptors() == before


def test_an_unstarted_jail_says_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Jail(tmp_path, tier=Bubblewrap()) as jail, monkeypatch.context() as patched:
        patched.setenv("PATH", "/nowhere")
        with pytest.raises(JailError, match="no program named bwrap"):
            jail.start(["true"])


def test_the_error_has_the_programs_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "bin" / "bwrap"
    program.parent.mkdir()
    program.write_text(
        "#!/bin/sh\necho 'bwrap: setting up uid map: Permission denied' >&2\nexit 1\n"
    )
    program.chmod(0o755)
    work = tmp_path / "work"
    work.mkdir()
    with Jail(work, tier=Bubblewrap()) as jail:
        monkeypatch.setenv("PATH", f"{program.parent}:/usr/bin:/bin")
        with pytest.raises(JailError, match="setting up uid map: Permission denied"):
            jail.start(["true"])
    attempt = try_tier(Bubblewrap())
    assert attempt.failure is not None
    assert "setting up uid map" in attempt.failure


@pytest.mark.parametrize("whose", ["shell", "jail"])
def test_a_kill_counts_at_every_moment_of_a_start(
    tmp_path: Path, tier: Tier, mark: str, whose: str, nightly: bool
) -> None:
    for delay in range(0, 50, 10 if nightly else 25):
        with Jail(tmp_path, tier=tier) as jail:
            shell = Shell(jail)
            threading.Timer(delay / 1000, jail.kill if whose == "jail" else shell.kill).start()
            with pytest.raises(JailKilled):
                shell.run(f"sleep {mark}")
        assert holding(mark) == []
