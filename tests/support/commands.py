"""The result of a command, run in this process, or in a child of it that is left at work."""

import atexit
import gc
import json
import os
import pty
import signal
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Collection, Mapping, Sequence
from contextlib import chdir, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

import click
from click.testing import CliRunner, Result

from coterie.runtime.doubles import Call
from coterie.schema.command import main

from .processes import work_and_exit

_OPEN = Path("/proc/self/fd")


@dataclass(kw_only=True)
class CommandResult:
    """The result of a command.

    Attributes:
        shown: Both streams as a terminal shows them.
    """

    code: int
    out: str
    err: str
    shown: str = ""
    calls: int = 0
    asked: list[Call] = field(default_factory=list[Call])

    def ended(self, code: int, calls: int | None = None) -> Self:
        """Return this result, which has to have this code and this number of calls of a model."""
        assert self.code == code, self.shown or self.err
        assert calls in {None, self.calls}, self.shown or self.err
        return self

    def refused(self) -> str:
        """Return the message of a command that has to have ended with 2 and printed nothing."""
        assert (self.code, self.out) == (2, ""), self.shown or self.err
        return self.err

    @property
    def json(self) -> Any:
        return json.loads(self.out)


def ran(command: click.Command, *words: object) -> Result:
    """Run a command with these words; what it does not expect is in the result."""
    return CliRunner().invoke(command, [str(word) for word in words])


def printed(result: Result, code: int = 0) -> str:
    """Return the output of a command that has to have ended with this code."""
    assert result.exit_code == code, result.output
    return result.stdout


def refused(result: Result) -> str:
    """Return the message of a command that has to have ended with 2."""
    assert result.exit_code == 2, result.output
    return result.stderr


def mas(*words: object) -> Result:
    """Run `mas` with these words."""
    return ran(main, *words)


def invoked(command: click.Command, words: Sequence[str], name: str) -> CommandResult:
    """Run a command; what it does not expect is raised."""
    return _result(CliRunner().invoke(command, list(words), prog_name=name))


def invoked_in(
    folder: Path, command: click.Command, words: Sequence[str], name: str, *, typed: str = ""
) -> CommandResult:
    """Run a command in a folder, which is also where it looks for models.yaml."""
    runner = CliRunner(env={"MAS_HOME": str(folder)})
    with chdir(folder):
        return _result(runner.invoke(command, list(words), prog_name=name, input=typed))


def started(
    folder: Path,
    *arguments: str,
    command: str = "run",
    env: Mapping[str, str] | None = None,
    stdout: int = subprocess.PIPE,
    stderr: int = subprocess.PIPE,
) -> subprocess.Popen[str]:
    """Start `mas-run`, or another command, in a child of this process, which imports nothing anew.

    Args:
        folder: Where it works, and where it looks for models.yaml.
        env: Variables of its own.
    """
    before = {*_OPEN.iterdir()}

    def work() -> None:
        _forget_files(before)
        _forget_parent({"MAS_HOME": str(folder), **(env or {})})
        sys.argv = ["mas", command, *arguments]
        with open(1, "w") as sys.stdout, open(2, "w", 1, errors="backslashreplace") as sys.stderr:
            try:
                main(sys.argv[1:], prog_name="mas")
            finally:
                atexit._run_exitfuncs()

    with warnings.catch_warnings():  # of 3.12 and later, of threads that only the parent has
        warnings.simplefilter("ignore", DeprecationWarning)
        return subprocess.Popen(
            "never executed",
            cwd=folder,
            preexec_fn=lambda: work_and_exit(work),  # noqa: PLW1509 - it is this process anew
            stdout=stdout,
            stderr=stderr,
            text=True,
        )


def run_on_terminal(folder: Path, *words: str, stdout: int | None = None) -> tuple[int, str, bytes]:
    """Run `mas-run` on a terminal; give its exit code, what went to `stdout`, and what is shown."""
    ours, theirs = pty.openpty()
    screen = {"TERM": "xterm", "COLUMNS": "100"}
    running = started(folder, *words, env=screen, stdout=stdout or theirs, stderr=theirs)
    os.close(theirs)
    shown = b""
    with suppress(OSError):  # a terminal whose other end is closed
        while chunk := os.read(ours, 65536):
            shown += chunk
    os.close(ours)
    out, _ = running.communicate(timeout=300)
    return running.returncode, out, shown


def _forget_files(before: Collection[Path]) -> None:
    """Close sockets, and all that was opened to start a process: who starts it waits for that."""
    for file in [*_OPEN.iterdir()]:
        with suppress(OSError):
            if file not in before or file.is_socket():
                os.close(int(file.name))


def _forget_parent(environment: Mapping[str, str]) -> None:
    """Begin as a new process does."""
    gc.freeze()
    atexit._clear()
    signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    tempfile.tempdir = None
    os.environ.update(environment)


def _result(done: Result) -> CommandResult:
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return CommandResult(code=done.exit_code, out=done.stdout, err=done.stderr, shown=done.output)
