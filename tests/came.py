"""What a command came to, run in this process, or one that is left at work in its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from contextlib import chdir
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import click
from click.testing import CliRunner, Result

from coterie.runtime.doubles import Call


@dataclass(kw_only=True)
class Came:
    """What a command came to.

    Attributes:
        shown: Both streams as a terminal shows them.
    """

    code: int
    out: str
    err: str
    shown: str = ""
    calls: int = 0
    asked: list[Call] = field(default_factory=list[Call])

    @property
    def json(self) -> Any:
        return json.loads(self.out)


def invoked(command: click.Command, words: Sequence[str], name: str) -> Came:
    """Run a command; what it does not expect is raised."""
    return _came(CliRunner().invoke(command, list(words), prog_name=name))


def invoked_in(
    folder: Path, command: click.Command, words: Sequence[str], name: str, *, typed: str = ""
) -> Came:
    """Run a command in a folder, which is also where it looks for models.yaml."""
    runner = CliRunner(env={"MAS_HOME": str(folder)})
    with chdir(folder):
        return _came(runner.invoke(command, list(words), prog_name=name, input=typed))


def started(folder: Path, *arguments: str, **options: Any) -> subprocess.Popen[str]:
    """Start `mas-run` in a folder, as a process of its own."""
    return subprocess.Popen(
        [sys.executable, "-m", "coterie.schema.command", "run", *arguments],
        cwd=folder,
        env={**os.environ, "MAS_HOME": str(folder)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        **options,
    )


def _came(done: Result) -> Came:
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return Came(code=done.exit_code, out=done.stdout, err=done.stderr, shown=done.output)
