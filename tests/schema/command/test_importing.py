"""`mas dev import`, and what other commands say of files that it is for."""

from __future__ import annotations

from pathlib import Path

import pytest

from coterie.runtime.command.run import main as mas_run
from coterie.schema import Catalogue, load_models, load_team

from ...came import invoked_in
from ...support.commands import mas

DOCKER_AGENT = """\
models:
  gpt: {provider: openai, model: gpt-4o}
agents:
  root:
    model: gpt
    instruction: Answer the question.
    add_date: true
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (tmp_path / "tea.yaml").write_text(DOCKER_AGENT, encoding="utf-8")
    return tmp_path / "tea.yaml"


def test_what_is_written_loads_with_its_models(file: Path) -> None:
    target = file.parent / "new" / "team.yaml"
    done = mas("dev", "import", file, "-o", target)
    assert done.exit_code == 0
    assert done.stdout.split() == [str(target.with_name("models.yaml")), str(target)]
    assert f"{file}:7:5: warning: agents.root.add_date: Write the date into the task." in (
        done.stderr
    )
    assert "1 thing of it has no counterpart, told above" in done.stderr
    models_file = target.with_name("models.yaml")
    assert f'Try it: mas-run {target} --models {models_file} --query "…"' in done.stderr
    models = load_models(models_file)
    assert models["gpt"].model == "openai/gpt-4o"
    team = load_team(target, Catalogue.of_host(models=models))
    assert team.agents["root"].prompt == "Answer the question."


def test_nothing_is_written_over(file: Path) -> None:
    (file.parent / "models.yaml").write_text("models: {}\n", encoding="utf-8")
    done = mas("dev", "import", file, "-o", file.parent / "team.yaml")
    assert done.exit_code == 2
    assert "models.yaml: is there already, and nothing is written over" in done.stderr
    assert not (file.parent / "team.yaml").exists()


def test_without_a_file_the_team_is_printed(file: Path) -> None:
    done = mas("dev", "import", file)
    assert done.stdout.splitlines()[1:3] == ["name: tea", "agents:"]
    assert "the team names models (gpt)" in done.stderr


@pytest.mark.parametrize("command", ["dev graph", "validate", "dev fmt", "dev diff"])
def test_each_command_says_what_the_file_is(file: Path, command: str) -> None:
    done = mas(*command.split(), *([file] * (2 if command == "dev diff" else 1)))
    assert done.exit_code == 2
    assert (
        f"{file}:1:1: error: this is a file of docker-agent, and not a team. Take it over:"
        f" mas dev import {file} -o team.yaml" in done.stderr
    )


def test_running_it_says_so_too(file: Path) -> None:
    came = invoked_in(file.parent, mas_run, ["tea.yaml", "--query", "why?"], "mas-run")
    assert came.code == 2
    assert "mas dev import tea.yaml -o team.yaml" in came.err


def test_a_crews_folder_is_known_for_what_it_is(tmp_path: Path) -> None:
    config = tmp_path / "crew" / "config"
    config.mkdir(parents=True)
    (config / "agents.yaml").write_text("a: {role: R, goal: G, backstory: B}\n")
    (config / "tasks.yaml").write_text("t: {description: D, expected_output: E, agent: a}\n")
    done = mas("dev", "graph", tmp_path / "crew")
    assert done.exit_code == 2
    assert f"It is of CrewAI. Take it over: mas dev import {tmp_path / 'crew'}" in done.stderr
    assert "name: crew" in mas("dev", "import", tmp_path / "crew").stdout


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("name: x\nagents: {a: {prompt: Answer it.}}\n", "of no program that is known"),
        ("agents: [\n", "not YAML"),
        ("agents: {a: {instruction: &x hello}}\n", "anchor &x"),
    ],
)
def test_what_is_nobodys_file_is_refused(file: Path, text: str, says: str) -> None:
    file.write_text(text, encoding="utf-8")
    done = mas("dev", "import", file)
    assert done.exit_code == 2
    assert says in done.stderr


def test_an_input_has_a_name_and_a_value(file: Path) -> None:
    done = mas("dev", "import", file, "--input", "topic")
    assert done.exit_code == 2
    assert "--input 'topic': write NAME=VALUE" in done.stderr
