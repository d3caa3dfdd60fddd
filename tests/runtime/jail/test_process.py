"""The end of processes in a jail, on every tier that this machine has."""

from __future__ import annotations

import os
import secrets
import signal
import subprocess
import tempfile
import threading
import time
from pathlib import Path

import pytest

from coterie.runtime.jail import Jail, JailKilled, PythonWorker, Shell
from coterie.runtime.jail.detect import try_tier
from coterie.runtime.jail.tiers import Bubblewrap, Tier, Unconfined
from coterie.schema import JailError

from ...jails import TIERS, USERS, command, holding, require, wait_for

# Starts a process that left its session and ignores what can be ignored, and one that did not.
STRAYS = "(trap '' TERM INT HUP; setsid sleep {mark} & ) & sleep {mark} & sleep {mark}"
HOST = """
import tempfile
from pathlib import Path
from coterie.runtime.jail import Jail, Shell
with tempfile.TemporaryDirectory() as work, Jail(Path(work), tier=tier) as jail:
    Shell(jail).run(sys.argv[2], timeout=600)
"""


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
        begun = time.monotonic()
        done = Shell(jail).run(f"(setsid sleep {mark} & ); sleep {mark} & echo over")
        assert (done.output, done.returncode, done.stopped) == ("over\n", 0, None)
        assert time.monotonic() - begun < 10
        assert holding(mark) == []


def test_nothing_outlives_a_cell_that_ends_its_interpreter(
    tmp_path: Path, tier: Tier, mark: str
) -> None:
    code = f"import os; os.system('setsid sleep {mark} & sleep {mark} &'); os._exit(0)"
    with Jail(tmp_path, tier=tier) as jail:
        assert "ended its interpreter" in (PythonWorker(jail).execute(code).error or "")
        assert holding(mark) == []


def test_a_kill_from_another_thread_leaves_nothing(tmp_path: Path, tier: Tier, mark: str) -> None:
    left: list[str] = []

    def kill(jail: Jail) -> None:
        wait_for(lambda: bool(holding(mark)), "the command did not start")
        jail.kill()
        left.extend(holding(mark))

    with Jail(tmp_path, tier=tier) as jail:
        killer = threading.Thread(target=kill, args=(jail,))
        killer.start()
        with pytest.raises(JailKilled):
            Shell(jail).run(STRAYS.format(mark=mark))
        killer.join()
    assert left == []


@pytest.mark.parametrize("ending", [signal.SIGKILL, signal.SIGINT])
@pytest.mark.parametrize("user", USERS)
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


def test_a_jail_that_does_not_start_says_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Jail(tmp_path, tier=Bubblewrap()) as jail, monkeypatch.context() as patched:
        patched.setenv("PATH", "/nowhere")
        with pytest.raises(JailError, match="no program named bwrap"):
            jail.start(["true"])


def test_what_the_jail_program_says_is_in_the_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
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
    tmp_path: Path, tier: Tier, mark: str, whose: str
) -> None:
    for delay in range(0, 50, 10):
        with Jail(tmp_path, tier=tier) as jail:
            shell = Shell(jail)
            threading.Timer(delay / 1000, jail.kill if whose == "jail" else shell.kill).start()
            begun = time.monotonic()
            with pytest.raises(JailKilled):
                shell.run(f"sleep {mark}")
            assert time.monotonic() - begun < 5
        assert holding(mark) == []
