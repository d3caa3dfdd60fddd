"""The end of processes in a jail, on every tier that this machine has."""

from __future__ import annotations

import os
import secrets
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from coterie.runtime.jail import Jail, JailKilled, PythonWorker, Shell
from coterie.runtime.jail.detect import try_tier
from coterie.runtime.jail.tiers import Bubblewrap, Landlock, Namespaces, Tier, Unconfined
from coterie.schema import JailError

TIERS = (Bubblewrap(), Namespaces(), Landlock(), Unconfined())
# Starts a process that left its session and ignores what can be ignored, and one that did not.
STRAYS = "(trap '' TERM INT HUP; setsid sleep {mark} & ) & sleep {mark} & sleep {mark}"
HOST = """
import sys
from pathlib import Path
from coterie.runtime.jail import Jail, Shell
from coterie.runtime.jail.tiers import *
work, tier, command = sys.argv[1:]
with Jail(Path(work), tier=eval(tier)()) as jail:
    Shell(jail).run(command, timeout=60)
"""


@pytest.fixture(params=TIERS, ids=lambda tier: tier.name)
def tier(request: pytest.FixtureRequest) -> Tier:
    tier: Tier = request.param
    failure = try_tier(tier).failure if tier.confines else None
    if failure is not None:
        pytest.skip(f"this machine has no such jail: {failure}")
    return tier


@pytest.fixture
def mark() -> str:
    """Seconds to sleep for that no other process sleeps for."""
    return f"{10**9 + secrets.randbelow(10**9)}.5"


def sleepers(mark: str) -> list[str]:
    """Processes that sleep for as long as the mark says."""
    found: list[str] = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if (process / "cmdline").read_bytes() == f"sleep\0{mark}\0".encode():
                found.append(process.name)
        except OSError:
            continue
    return found


def wait_until(done: bool, mark: str, seconds: float = 20.0) -> None:
    """Wait until there are sleepers (`done` is true) or there are none."""
    deadline = time.monotonic() + seconds
    while bool(sleepers(mark)) is not done:
        assert time.monotonic() < deadline, f"sleepers: {sleepers(mark)}"
        time.sleep(0.01)


def test_nothing_outlives_the_time_of_a_command(tmp_path: Path, tier: Tier, mark: str) -> None:
    with Jail(tmp_path, tier=tier) as jail:
        done = Shell(jail).run(STRAYS.format(mark=mark), timeout=1.0)
        assert done.timed_out
        assert sleepers(mark) == []


def test_nothing_outlives_a_command_that_ends(tmp_path: Path, tier: Tier, mark: str) -> None:
    with Jail(tmp_path, tier=tier) as jail:
        begun = time.monotonic()
        done = Shell(jail).run(f"(setsid sleep {mark} & ); sleep {mark} & echo over")
        assert (done.output, done.returncode, done.stopped) == ("over\n", 0, None)
        assert time.monotonic() - begun < 10
        assert sleepers(mark) == []


def test_nothing_outlives_a_cell_that_ends_its_interpreter(
    tmp_path: Path, tier: Tier, mark: str
) -> None:
    code = f"import os; os.system('setsid sleep {mark} & sleep {mark} &'); os._exit(0)"
    with Jail(tmp_path, tier=tier) as jail:
        assert "ended its interpreter" in (PythonWorker(jail).execute(code).error or "")
        assert sleepers(mark) == []


def test_a_kill_from_another_thread_leaves_nothing(tmp_path: Path, tier: Tier, mark: str) -> None:
    left: list[str] = []

    def kill(jail: Jail) -> None:
        wait_until(True, mark)
        jail.kill()
        left.extend(sleepers(mark))

    with Jail(tmp_path, tier=tier) as jail:
        killer = threading.Thread(target=kill, args=(jail,))
        killer.start()
        with pytest.raises(JailKilled):
            Shell(jail).run(STRAYS.format(mark=mark))
        killer.join()
    assert left == []


@pytest.mark.parametrize("ending", [signal.SIGKILL, signal.SIGINT])
def test_nothing_outlives_the_host(
    tmp_path: Path, tier: Tier, mark: str, ending: signal.Signals
) -> None:
    work, private = tmp_path / "work", tmp_path / "private"
    work.mkdir()
    private.mkdir()
    arguments = [str(work), type(tier).__name__, STRAYS.format(mark=mark)]
    with subprocess.Popen(
        [sys.executable, "-c", HOST, *arguments],
        stderr=subprocess.DEVNULL,
        env=os.environ | {"TMPDIR": str(private)},
    ) as host:
        wait_until(True, mark)
        host.send_signal(ending)
        wait_until(False, mark)
        if ending is not signal.SIGKILL:
            host.wait()
            assert list(private.iterdir()) == []


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
        assert sleepers(mark) == []
