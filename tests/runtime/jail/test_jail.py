"""The jail: what works in it, what it stops, and that nothing of it is left."""

from __future__ import annotations

import contextlib
import os
import secrets
import subprocess
import threading
import time
from pathlib import Path

import pytest

from coterie.runtime.jail import (
    Jail,
    JailKilled,
    Jails,
    Limits,
    PythonWorker,
    Shell,
    detect,
    open_jail,
)
from coterie.runtime.jail.battery import run_battery
from coterie.runtime.jail.detect import try_tier
from coterie.runtime.jail.tiers import Bubblewrap, Landlock, Namespaces, Unconfined
from coterie.schema import InputError, JailError

pytestmark = pytest.mark.skipif(
    detect().tier is None, reason="this machine has no jail for agents' code"
)
TIERS = (Bubblewrap(), Namespaces(), Landlock())


def survivors(marker: str) -> list[str]:
    """Processes whose command line has a marker."""
    found: list[str] = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            if marker.encode() in (entry / "cmdline").read_bytes():
                found.append(entry.name)
        except OSError:
            continue
    return found


@pytest.mark.parametrize("tier", TIERS, ids=lambda tier: tier.name)
def test_every_attack_is_stopped(tier) -> None:
    if failure := try_tier(tier).failure:
        pytest.skip(f"this machine has no such jail: {failure}")
    results = run_battery(tier)
    assert len(results) >= 40
    assert [result for result in results if not result.stopped] == []


def test_cells_share_their_state(worker: PythonWorker) -> None:
    assert worker.execute("x = 20\nprint('set')").logs == "set\n"
    assert worker.execute("x + 22").output == 42


def test_a_final_answer_ends_the_cell(worker: PythonWorker) -> None:
    done = worker.execute("final_answer({'a': [1]})\nprint('never')")
    assert (done.is_final_answer, done.output, done.logs) == (True, {"a": [1]}, "")


def test_an_error_shows_where(worker: PythonWorker) -> None:
    done = worker.execute("def f():\n    return 1 / 0\nf()")
    assert "ZeroDivisionError" in str(done.error)
    assert worker.execute("1 + 1").output == 2


@pytest.mark.parametrize(
    "code",
    ["import sys; sys.exit(3)", "import os; os._exit(3)", "raise KeyboardInterrupt", "exit()"],
)
def test_leaving_is_an_error_and_the_next_cell_runs(worker: PythonWorker, code: str) -> None:
    assert worker.execute(code).error
    assert worker.execute("'still here'").output == "still here"


def test_an_endless_cell_is_ended_and_says_so(worker: PythonWorker) -> None:
    started = time.monotonic()
    done = worker.execute("while True: pass", timeout=0.5)
    assert time.monotonic() - started < 3
    assert "longer than 0.5 seconds" in str(done.error)


def test_a_flood_of_output_is_cut(worker: PythonWorker) -> None:
    done = worker.execute("for _ in range(200_000): print('x' * 100)")
    assert done.error is None
    assert len(done.logs) < 100_000


def test_tools_run_on_the_host_and_their_errors_reach_the_cell(jail: Jail) -> None:
    def on_tool(name: str, arguments: list, named: dict) -> object:
        if name == "fail":
            raise ValueError("no such thing")
        return [name, arguments, named]

    tools = ["look", "fail"]
    with contextlib.closing(PythonWorker(jail, on_tool=on_tool, tools=tools)) as worker:
        assert worker.execute("look(1, b='c')").output == ["look", [1], {"b": "c"}]
        assert "no such thing" in str(worker.execute("fail()").error)
        assert "NameError" in str(worker.execute("other()").error)


def test_variables_are_values(worker: PythonWorker) -> None:
    worker.send_variables({"data": {"a": [1, 2]}})
    assert worker.execute("sum(data['a'])").output == 3
    with pytest.raises(JailError):
        worker.send_variables({"bad": object()})


def test_a_kill_from_another_thread_ends_a_cell_at_once(jail: Jail, worker: PythonWorker) -> None:
    worker.execute("1")
    threading.Timer(0.2, jail.kill).start()
    started = time.monotonic()
    with pytest.raises(JailKilled):
        worker.execute("import time; time.sleep(30)")
    assert time.monotonic() - started < 3


def test_nothing_survives_a_jail(tmp_path: Path) -> None:
    marker = f"sleep-{secrets.token_hex(8)}"
    with open_jail(tmp_path) as jail:
        script = f"setsid bash -c 'exec -a {marker} sleep 60' & exec -a {marker} sleep 60"
        result = Shell(jail).run(script, timeout=0.7)
        assert result.timed_out
        assert survivors(marker) == []


def test_commands_share_files_and_not_processes(jail: Jail) -> None:
    shell = Shell(jail)
    started = time.monotonic()
    assert shell.run("echo one > file; sleep 60 & echo two").output == "two\n"
    assert time.monotonic() - started < 5
    assert shell.run("cat file; exit 3").returncode == 3
    assert (jail.work / "file").read_text() == "one\n"


def test_git_works_in_the_work_folder_and_stays_the_hosts(jail: Jail) -> None:
    git = "git -c user.name=a -c user.email=a@b"
    result = Shell(jail).run(
        f"git init -q . && echo x > f && git add f && {git} commit -qm m && git log --oneline"
    )
    assert result.returncode == 0, result.output
    jail.close()
    assert (jail.work / "f").stat().st_uid == os.getuid()
    status = subprocess.run(
        ["git", "status", "--short"], cwd=jail.work, capture_output=True, check=True
    )
    assert status.stdout == b""


def test_long_output_keeps_both_ends(jail: Jail) -> None:
    output = Shell(jail, output=1000).run("echo first; seq 100000; echo last").output
    assert output.startswith("first\n")
    assert output.endswith("last\n")
    assert len(output) < 2000


def test_the_disk_is_bounded(tmp_path: Path) -> None:
    limits = Limits(disk=8 << 20, file_size=4 << 20)
    with open_jail(tmp_path, limits=limits) as jail:
        result = Shell(jail).run(
            "for i in $(seq 50); do head -c 3000000 /dev/zero > f$i; sleep 0.05; done"
        )
        assert result.stopped or result.returncode
    assert sum(path.stat().st_size for path in tmp_path.iterdir()) < 64 << 20


def test_the_environment_of_the_host_is_not_there(monkeypatch, tmp_path: Path) -> None:
    monkeypatch.setenv("MY_SECRET", "canary-123")
    with open_jail(tmp_path, environment={"GIVEN": "yes"}) as jail:
        shown = Shell(jail).run("env").output
    assert "canary" not in shown
    assert "GIVEN=yes" in shown


def test_without_a_jail_the_same_things_work_unsafely(tmp_path: Path) -> None:
    with Jail(tmp_path, tier=Unconfined()) as jail:
        with contextlib.closing(PythonWorker(jail)) as worker:
            assert worker.execute("6 * 7").output == 42
        assert Shell(jail).run("echo hi").output == "hi\n"


def test_a_host_without_a_jail_refuses_and_says_what_to_do(monkeypatch, tmp_path: Path) -> None:
    from coterie.runtime.jail import detect as module_attribute
    from coterie.runtime.jail import jails
    from coterie.runtime.jail.detect import Attempt, Report

    assert module_attribute is detect
    none = Report(tier=None, attempts=(Attempt(tier="bubblewrap", failure="not installed"),))
    monkeypatch.setattr(jails, "detect", lambda: none)
    with pytest.raises(InputError, match="bubblewrap: not installed") as caught:
        Jails().check()
    assert "apt install bubblewrap" in str(caught.value)
    assert "--unsafe-local" in str(caught.value)
    Jails(unsafe=True).check()
    del tmp_path
