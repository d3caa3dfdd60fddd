"""`mas dev fmt`: canonical files, and nothing lost."""

from functools import partial
from pathlib import Path

import pytest

from coterie.schema import Catalogue, load_team
from coterie.schema.command.fmt import main

from ...support.commands import printed, ran, refused

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


fmt = partial(ran, main)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "team.yaml"
    path.write_text(LOOSE)
    return path


def test_a_file_becomes_canonical_once(file: Path) -> None:
    team = load_team(file, Catalogue.of_host())
    assert printed(fmt(file)) == f"{file}: written\n"
    assert file.read_text() == CANONICAL
    assert load_team(file, Catalogue.of_host()) == team
    assert fmt(file).stdout == ""


def test_check_writes_nothing_and_ends_with_1(file: Path) -> None:
    assert printed(fmt("--check", file), 1) == f"{file}: not canonical\n"
    assert file.read_text() == LOOSE
    fmt(file)
    assert fmt("--check", file).exit_code == 0


def test_a_file_with_problems_stays_as_it_is(file: Path) -> None:
    broken = LOOSE.replace("role:", "rol:")
    file.write_text(broken)
    assert "agents.solver.rol: unknown field. Did you mean 'role'?" in refused(fmt(file))
    assert file.read_text() == broken


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    assert "no file" in refused(fmt(tmp_path / "none.yaml"))


def test_a_team_is_written_as_a_folder_and_as_one_file_again(tmp_path: Path) -> None:
    folder, whole = tmp_path / "pair", tmp_path / "whole.yaml"
    prompts = tmp_path / "prompts"
    prompts.mkdir()
    (prompts / "mine.md").write_text("Solve it my way.\n")
    file = tmp_path / "team.yaml"
    file.write_text(LOOSE.replace('"Solve the task, please."', "mine"))
    assert printed(fmt(file, "--to-folder", folder)) == f"{folder}: written\n"
    assert (folder / "agents/solver/prompt.md").read_text() == "Solve it my way.\n"
    (folder / "todo.txt").write_text("Mine.")
    assert (
        "todo.txt is not part of the team and stays unchanged."
        in fmt(folder, "--to-folder", folder).stderr
    )
    assert fmt(folder, "--to-file", whole).exit_code == 0
    assert load_team(whole, Catalogue.of_host()) == load_team(folder, Catalogue.of_host())
    assert fmt("--check", folder, whole).exit_code == 0
    (folder / "agents/solver/agent.yaml").write_text("id: solver\nrole: solver\n")
    assert fmt("--check", folder).stdout == f"{folder / 'agents/solver'}: not canonical\n"
    for wrong in ((file, whole, "--to-folder", folder), (file, "--to-file", whole, "--check")):
        assert fmt(*wrong).exit_code == 2
    assert "not a team's folder" in fmt(prompts, "--to-file", whole).stderr
