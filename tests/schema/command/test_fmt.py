"""`mas-fmt`: canonical files, and nothing lost."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from coterie.schema import Catalogue, load_team
from coterie.schema.command.fmt import main

LOOSE = """\
# Who we are
agents:
  solver:   # the one
    prompt: "Solve the task, please."
    role: solver
name: one
"""
CANONICAL = """\
# yaml-language-server: $schema=team.schema.json
name: one
# Who we are
agents:
  solver:  # the one
    role: solver
    prompt: Solve the task, please.
"""


def fmt(*arguments: object) -> Result:
    return CliRunner().invoke(main, [str(one) for one in arguments])


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "team.yaml"
    path.write_text(LOOSE)
    return path


def test_a_file_becomes_canonical_once(file: Path) -> None:
    team = load_team(file, Catalogue.of_host())
    done = fmt(file)
    assert (done.exit_code, done.stdout) == (0, f"{file}: written\n")
    assert file.read_text() == CANONICAL
    assert load_team(file, Catalogue.of_host()) == team
    assert fmt(file).stdout == ""


def test_check_writes_nothing_and_ends_with_1(file: Path) -> None:
    done = fmt("--check", file)
    assert (done.exit_code, done.stdout) == (1, f"{file}: not canonical\n")
    assert file.read_text() == LOOSE
    fmt(file)
    assert fmt("--check", file).exit_code == 0


def test_a_file_with_problems_stays_as_it_is(file: Path) -> None:
    broken = LOOSE.replace("role:", "rol:")
    file.write_text(broken)
    done = fmt(file)
    assert done.exit_code == 2
    assert "agents.solver.rol: unknown field. Did you mean 'role'?" in done.stderr
    assert file.read_text() == broken


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    done = fmt(tmp_path / "none.yaml")
    assert done.exit_code == 2
    assert "no file" in done.stderr
