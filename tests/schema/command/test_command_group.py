"""`mas`: finds its commands by name and shows errors in one way."""

from __future__ import annotations

import click
import pytest
from click.testing import CliRunner

from coterie.schema import CoterieError, InputError, LimitError
from coterie.schema.command import LONGEST_MESSAGE, Command, host_catalogue, main


def test_help_lists_every_command_with_a_line() -> None:
    done = CliRunner().invoke(main, ["--help"])
    assert done.exit_code == 0
    for name in ("diff", "doctor", "explain", "fmt", "graph", "models", "run", "validate"):
        assert f"  {name}  " in done.stdout


def test_a_command_that_is_not_there_is_near_one_that_is() -> None:
    done = CliRunner().invoke(main, ["grap"])
    assert done.exit_code == 2
    assert "no command 'grap'. Did you mean 'graph'?" in done.stderr


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (InputError("wrong"), 2, "error: wrong"),
        (LimitError("enough"), 3, "error: enough"),
        (CoterieError("failed"), 1, "error: failed"),
        (ZeroDivisionError("ours"), 70, "This is a bug in coterie"),
        (KeyboardInterrupt(), 130, ""),
    ],
)
def test_errors_become_messages_and_exit_codes(error: BaseException, code: int, said: str) -> None:
    @click.command(cls=Command)
    def command() -> None:
        raise error

    done = CliRunner().invoke(command, [])
    assert done.exit_code == code
    assert said in done.stderr
    assert ("Traceback" in done.stderr) == (code == 70)


def test_a_message_longer_than_anybody_reads_loses_its_middle() -> None:
    @click.command(cls=Command)
    def command() -> None:
        raise InputError(f"begins {'x' * 1_000_000} ends")

    done = CliRunner().invoke(command, [])
    assert done.exit_code == 2
    assert len(done.stderr) < LONGEST_MESSAGE + 100
    assert done.stderr.startswith("error: begins xx")
    assert done.stderr.endswith("xx ends\n")
    assert "[… 990,019 characters left out …]" in done.stderr


@pytest.mark.parametrize("package", ["nope", "numpy.linalg", ""])
def test_a_package_that_nobody_can_import_is_refused_where_it_is_allowed(package: str) -> None:
    with pytest.raises(InputError, match=f"--allow-import {package}: no package '{package}' is"):
        host_catalogue(allowed_imports=("numpy", package))
