"""What every command has, and what it says on a system that lacks what POSIX systems have."""

import subprocess
import sys
from importlib.metadata import entry_points, version
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from coterie.runtime.doubles import ScriptedModel
from coterie.schema.command import Command

from ...support.commands import mas, ran, refused
from ...support.processes import python

COMMANDS = {
    point.name: point
    for point in entry_points(group="console_scripts")
    if point.value.startswith("coterie.")
}
NOBODY = ("--model", "m@http://127.0.0.1:9/v1")
LACKING = ("fcntl", "grp", "pwd", "resource", "termios")


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_takes_h_and_tells_its_version(name: str) -> None:
    command = COMMANDS[name].load()
    long, short, result = (
        CliRunner().invoke(command, [option], prog_name=name)
        for option in ("--help", "-h", "--version")
    )
    assert short.exit_code == 0
    assert short.output == long.output
    assert result.output == f"{name}, version {version('coterie')}\n"


@pytest.mark.parametrize(
    "words", [("pool", "list"), ("dev", "models", "list"), ("dev", "op", "mutate")]
)
def test_subcommands_take_h(words: tuple[str, ...]) -> None:
    assert mas(*words, "-h").output == mas(*words, "--help").output


def test_commands_load_and_read_files_where_posix_is_missing(tmp_path: Path) -> None:
    script = (
        "import sys\n"
        f"sys.modules.update(dict.fromkeys({LACKING}))\n"
        "from coterie.runtime.command import doctor, run\n"
        "from coterie.pool.command import main\n"
        "from coterie.schema.command.graph import main\n"
        "main(['seed:direct'])\n"
    )
    done = python("-c", script, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    "words", [("run", "seed:direct", "-q", "hi", *NOBODY), ("pool", "init", "new")]
)
def test_what_cannot_work_without_posix_says_so_in_a_sentence(
    words: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, "fcntl", None)
    monkeypatch.setattr(sys, "platform", "win32")
    err = refused(mas(*words))
    [text] = err.splitlines()
    assert text.startswith("error: this needs Linux or macOS, and the system is 'win32'.")


RUN = f"{sys.executable} -m coterie.schema.command run team.yaml -q hi"


@pytest.mark.parametrize(("closed", "answers"), [("<&-", True), ("2>&-", True), (">&-", False)])
def test_a_command_works_without_standard_streams(
    tmp_path: Path, closed: str, answers: bool
) -> None:
    (tmp_path / "team.yaml").write_text("name: t\nagents: {a: {prompt: Add.}}\n")
    with ScriptedModel("7") as model:
        command = f"{RUN} --model m@{model.api_base} {closed}"
        done = subprocess.run(
            ["sh", "-c", command], cwd=tmp_path, capture_output=True, text=True, check=False
        )
    assert (done.returncode, done.stdout) == (0, "7\n" if answers else "")
    [run] = (tmp_path / "runs").iterdir()
    assert mas("run", "--replay", run, "--verify").exit_code == 0


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="the system has no full device")
@pytest.mark.parametrize("words", ["--version", "validate no.yaml --format json", "run --help"])
def test_output_that_cannot_be_written_is_an_error_in_one_line(words: str, tmp_path: Path) -> None:
    with Path("/dev/full").open("w") as full:
        command = [sys.executable, "-m", "coterie.schema.command", *words.split()]
        done = subprocess.run(
            command, cwd=tmp_path, stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    message = "error: cannot write to standard output: No space left on device.\n"
    assert (done.returncode, done.stderr) == (1, message)


def test_an_attribute_that_posix_alone_has_is_no_bug_either(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    @click.command(cls=Command)
    def command() -> None:
        raise AttributeError("module 'os' has no attribute 'geteuid'")

    monkeypatch.setitem(sys.modules, "fcntl", None)
    assert refused(ran(command)).startswith("error: this needs Linux or macOS")
