"""`mas-diff`: words, JSON and edits; exit codes as a diff has them; colours for people alone."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from coterie.schema import Catalogue, load_team
from coterie.schema.command.diff import main
from coterie.schema.edits import apply, edits_from_json

from ...support.commands import printed, refused

ONE = """\
name: pair
agents:
  solver: {role: solver, prompt: Solve the task step by step.}
  critic: {role: critic, prompt: Look for a mistake. Then give the answer.}
topology: {reports_to: {solver: [critic]}}
"""
OTHER = ONE.replace("step by step", "and check it").replace("role: critic", "temperature: 0.5")
WORDS = [
    "solver: prompt Solve the task step by step. -> Solve the task and check it.",
    "critic: role critic -> none, temperature none -> 0.5",
]
GIT = ("team.yaml", "0" * 7, "100644")
"""What git says of a text beside where it is."""


def diff(*arguments: object, **environment: str) -> Result:
    words = [str(argument) for argument in arguments]
    return CliRunner().invoke(main, words, env={"NO_COLOR": None, **environment})


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    path, other = tmp_path / "one.yaml", tmp_path / "other.yaml"
    path.write_text(ONE)
    other.write_text(OTHER)
    return path, other


def test_a_difference_is_told_in_words_and_ends_with_1(files: tuple[Path, Path]) -> None:
    assert printed(diff(*files), 1) == "\n".join([*WORDS, ""])


def test_no_difference_is_no_output(files: tuple[Path, Path]) -> None:
    path, other = files
    other.write_text(
        "# A comment.\n"
        + ONE.replace("role: solver, ", "").replace("{prompt", "{role: solver, prompt")
    )
    assert printed(diff(path, other)) == ""


def test_as_json(files: tuple[Path, Path]) -> None:
    done = diff("--format", "json", *files)
    report = json.loads(done.stdout)
    assert done.exit_code == 1
    assert report["components"] == ["parameters", "prompts"]
    assert report["changes"][-1] == {
        "component": "parameters",
        "path": "agents.critic.temperature",
        "before": None,
        "after": 0.5,
    }
    out = printed(diff("--format", "json", files[0], files[0]))
    assert json.loads(out) == {"equal": True, "components": [], "changes": []}


def test_as_edits_that_lead_from_one_to_the_other(files: tuple[Path, Path]) -> None:
    known = Catalogue.of_host()
    done = diff("--format", "edits", *files)
    before, after = (load_team(file, known) for file in files)
    assert apply(before, edits_from_json(done.stdout), known) == after
    assert diff("--format", "edits", files[0], files[0]).stdout == '{"edits": []}\n'


def test_what_this_host_does_not_know_makes_no_difference(files: tuple[Path, Path]) -> None:
    path, other = files
    path.write_text(ONE.replace("role: critic", "model_id: haiku, tools: [web.search]"))
    other.write_text(ONE.replace("role: critic", "model_id: sonnet"))
    assert diff(*files).stdout == "critic: model haiku -> sonnet, tools -web.search\n"


def test_files_that_do_not_load_are_refused_with_all_problems(files: tuple[Path, Path]) -> None:
    path, other = files
    path.write_text(ONE.replace("role: solver", "rol: solver"))
    other.write_text(ONE.replace("[critic]", "[critc]"))
    err = refused(diff(path, other))
    assert f"{path}:3:12: error: agents.solver.rol: unknown field. Did you mean" in err
    assert f"{other}:5:34: error: topology.reports_to.solver[0]: no agent 'critc'." in err
    assert diff(path, other.with_name("none.yaml")).exit_code == 2
    assert diff(path).exit_code == 2


def test_colours_are_for_terminals(files: tuple[Path, Path]) -> None:
    red = "\x1b[31m"
    assert red not in diff(*files).stdout
    assert red in diff("--color", "always", *files, NO_COLOR="1").stdout
    assert red in diff(*files, GIT_PAGER_IN_USE="1").stdout
    assert red not in diff(*files, GIT_PAGER_IN_USE="1", NO_COLOR="1").stdout
    assert red not in diff("--color", "never", *files, GIT_PAGER_IN_USE="1").stdout


def driver(before: object, after: object, *more: str) -> Result:
    path, name, mode = GIT
    return diff("--git", path, before, name, mode, after, name, mode, *more)


def test_a_driver_compares_texts_where_a_side_is_no_team(files: tuple[Path, Path]) -> None:
    path, other = files
    other.write_text(ONE.replace("role: solver", "rol: sol\x1b[2Jver"))
    out = printed(driver(path, other))
    assert out.splitlines()[:2] == [
        "team.yaml",
        "the team is invalid, so this compares the texts: control character U+001B in the file."
        " Remove it.",
    ]
    assert "+  solver: {rol: sol\\u001b[2Jver, prompt: Solve the task step by step.}" in out
    other.write_bytes(b"\xff\x00")
    assert driver(path, other).exit_code == 0


def test_a_driver_shows_texts_of_equal_teams(files: tuple[Path, Path]) -> None:
    path, other = files
    other.write_text("# Who?\n" + ONE)
    lines = driver(path, other).stdout.splitlines()
    assert lines[1:4] == ["same team, different text:", "@@ -1,2 +1,3 @@", "+# Who?"]


def test_a_driver_is_told_of_renames_and_of_what_is_not_merged(files: tuple[Path, Path]) -> None:
    done = driver(*files, "new.yaml", "similarity index 90%\n")
    assert done.stdout.splitlines()[0] == "team.yaml -> new.yaml"
    assert printed(diff("--git", "team.yaml")) == "team.yaml: not merged\n"
    assert "expected the 1, 7 or 9 arguments that git passes, got 2" in diff("--git", *files).stderr
