"""What a command came to, run in this process."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import click
from click.testing import CliRunner


@dataclass(kw_only=True)
class Came:
    """What a command came to."""

    code: int
    out: str
    err: str
    calls: int = 0

    @property
    def json(self) -> Any:
        return json.loads(self.out)


def invoked(command: click.Command, words: Sequence[str], name: str) -> Came:
    """Run a command; what it does not expect is raised."""
    done = CliRunner().invoke(command, list(words), prog_name=name)
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return Came(code=done.exit_code, out=done.stdout, err=done.stderr)
