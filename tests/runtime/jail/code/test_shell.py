"""Commands in a jail: what they need works, and what they leave is gone."""

import secrets
import sys
import threading
from pathlib import Path

import pytest

from coterie.runtime.jail import Jail, JailKilled, JailRequest, Jails, Shell

from ....jails import stopped


@pytest.fixture
def shell(jail: Jail) -> Shell:
    return Shell(jail)


@pytest.mark.parametrize(
    "command", ["sleep 3600", "trap '' TERM INT HUP; while :; do :; done", "yes"]
)
def test_a_command_is_over_when_its_time_is(shell: Shell, command: str) -> None:
    assert stopped(shell, f"echo begun; {command}").output.startswith("begun\n")
    assert shell.run("echo next").output == "next\n"


@pytest.mark.parametrize("kill", ["shell", "jail"])
def test_a_kill_ends_a_command_at_once_and_for_good(jail: Jail, shell: Shell, kill: str) -> None:
    killing = shell.kill if kill == "shell" else jail.kill
    threading.Timer(0.3, killing).start()
    with pytest.raises(JailKilled):
        shell.run("sleep 3600")
    with pytest.raises(JailKilled):
        shell.run("true")


def test_both_streams_are_one_and_signals_show(shell: Shell) -> None:
    assert shell.run("echo out; echo err >&2").output == "out\nerr\n"
    assert shell.run("kill -9 $$").returncode == 137
    assert shell.run("no-such-program").returncode == 127
    assert shell.run("cat").output == ""  # nothing to read


def test_what_is_in_tmp_stays_for_the_next_command(shell: Shell) -> None:
    note = Path("/tmp") / secrets.token_hex(8)  # noqa: S108 - the jail's own, not the host's
    shell.run(f"echo kept > {note}; echo kept > $HOME/other")
    assert shell.run(f"cat {note} $HOME/other").output == "kept\nkept\n"
    assert not note.exists()


def test_files_stay_for_the_next_command_and_long_output_loses_its_middle(jail: Jail) -> None:
    shell = Shell(jail, output=1000)
    output = shell.run("echo one > file; echo first; seq 100000; echo last").output
    assert output.startswith("first\n")
    assert output.endswith("last\n")
    assert len(output) < 1100
    assert shell.run("cat file; exit 3").returncode == 3
    assert (jail.work / "file").read_text() == "one\n"


def test_a_command_may_start_in_another_folder(jail: Jail, shell: Shell) -> None:
    (jail.work / "inner").mkdir()
    assert shell.run("pwd", folder=jail.work / "inner").output == f"{jail.work}/inner\n"


@pytest.mark.parametrize("command", ["echo " + "x" * 130_000, "echo a\0b"])
def test_a_command_that_no_shell_takes_is_answered(shell: Shell, command: str) -> None:
    done = shell.run(command)
    assert done.returncode == 126
    assert "Write long texts to files" in done.output


def test_half_characters_are_no_problem(shell: Shell) -> None:
    assert shell.run("echo '\ud800'; printf '\\xff'").output == "?\n\N{REPLACEMENT CHARACTER}"


def test_tests_of_a_project_run_with_the_hosts_packages(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text(
        "def test_it(tmp_path): assert not list(tmp_path.iterdir())"
    )
    venv = Path(sys.prefix)
    environment = {"PATH": f"{venv}/bin:/usr/bin:/bin"}
    request = JailRequest(readable=(venv,), environment=environment)
    with Jails().open(tmp_path, request) as jail:
        done = Shell(jail).run("python -m pytest -q -p no:cacheprovider")
    assert "1 passed" in done.output
    assert sorted(path.name for path in tmp_path.iterdir()) == ["test_it.py"]
