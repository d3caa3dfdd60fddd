"""`mas dev import`, and what other commands say of files that it is for."""

import sys
from pathlib import Path

import pytest

from coterie.runtime.command.run import main as mas_run

from ...support.commands import invoked_in, mas, refused

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
    assert "1 part has no counterpart; see above" in done.stderr
    models_file = target.with_name("models.yaml")
    assert f'Run it: mas-run {target} --models {models_file} --query "…"' in done.stderr
    check = next(line for line in done.stderr.splitlines() if line.startswith("Check it: "))
    assert mas("validate", *check.split()[3:]).exit_code == 0


def test_nothing_is_written_over(file: Path) -> None:
    (file.parent / "models.yaml").write_text("models: {}\n", encoding="utf-8")
    err = refused(mas("dev", "import", file, "-o", file.parent / "team.yaml"))
    assert "models.yaml: already exists and is not overwritten" in err
    assert not (file.parent / "team.yaml").exists()


def test_without_a_file_the_team_is_printed(file: Path) -> None:
    done = mas("dev", "import", file)
    assert done.stdout.splitlines()[1:3] == ["name: tea", "agents:"]
    assert f"Write its files: mas dev import {file} -o team.yaml" in done.stderr


def test_each_crew_of_a_project_gets_a_folder(tmp_path: Path) -> None:
    for name in ("scouts", "cooks"):
        config = tmp_path / "p" / "src" / "flow" / "crews" / name / "config"
        config.mkdir(parents=True)
        (config / "agents.yaml").write_text("a: {role: R, goal: G, backstory: B, llm: openai/m}\n")
        (config / "tasks.yaml").write_text("t: {description: D, expected_output: E, agent: a}\n")
    done = mas("dev", "import", tmp_path / "p", "-o", tmp_path / "out" / "team.yaml")
    assert done.exit_code == 0
    checks = [line.split()[3:] for line in done.stderr.splitlines() if line.startswith("Check it")]
    assert [Path(words[0]).parent.name for words in checks] == ["cooks", "scouts"]
    assert all(mas("validate", *words).exit_code == 0 for words in checks)


SERVER = """\
agents:
  root:
    instruction: Tell the time.
    toolsets:
      - {type: mcp, command: listed, tools: [x]}
      - {type: mcp, name: clock, command: PYTHON, args: [-I, -S, SERVER, "{}"]}
"""


def test_the_commands_that_are_printed_grant_the_tools_of_a_server(file: Path) -> None:
    server = Path(__file__).parents[2] / "runtime" / "tools" / "scripted_server.py"
    file.write_text(SERVER.replace("PYTHON", sys.executable).replace("SERVER", str(server)))
    done = mas("dev", "import", file, "-o", file.parent / "team.yaml")
    lines = [line.split() for line in done.stderr.splitlines()]
    tools, again, check = (
        next(line for line in lines if line[: len(words)] == words)
        for words in (["mas", "dev", "tools"], ["mas", "dev", "import"], ["Check", "it:"])
    )
    assert mas("validate", *check[3:]).exit_code == 0
    Path(tools[-1]).write_text(mas(*tools[1:-2]).stdout)
    second = mas(*again[1:])
    check = next(line for line in second.stderr.splitlines() if line.startswith("Check it:"))
    assert mas("validate", *check.split()[3:]).exit_code == 0
    assert "clock.act" in (file.parent / "granted" / "team.yaml").read_text()


@pytest.mark.parametrize("command", ["dev graph", "validate", "dev fmt", "dev diff"])
def test_each_command_says_what_the_file_is(file: Path, command: str) -> None:
    err = refused(mas(*command.split(), *([file] * (2 if command == "dev diff" else 1))))
    assert (
        f"{file}:1:1: error: this is a file of docker-agent, not a team. Import it: mas dev import"
        f" {file} -o team.yaml" in err
    )


def test_running_it_says_so_too(file: Path) -> None:
    result = invoked_in(file.parent, mas_run, ["tea.yaml", "--query", "why?"], "mas-run").ended(2)
    assert "mas dev import tea.yaml -o team.yaml" in result.err


def test_a_crews_folder_is_known_for_what_it_is(tmp_path: Path) -> None:
    config = tmp_path / "crew" / "config"
    config.mkdir(parents=True)
    (config / "agents.yaml").write_text("a: {role: R, goal: G, backstory: B}\n")
    (config / "tasks.yaml").write_text("t: {description: D, expected_output: E, agent: a}\n")
    err = refused(mas("dev", "graph", tmp_path / "crew"))
    assert f"It belongs to CrewAI. Import it: mas dev import {tmp_path / 'crew'}" in err
    assert "name: crew" in mas("dev", "import", tmp_path / "crew").stdout


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("name: x\nagents: {a: {prompt: Answer it.}}\n", "not a file of a supported program"),
        ("agents: [\n", "not YAML"),
        ("agents: {a: {instruction: &x hello}}\n", "anchor &x"),
    ],
)
def test_what_is_nobodys_file_is_refused(file: Path, text: str, says: str) -> None:
    file.write_text(text, encoding="utf-8")
    assert says in refused(mas("dev", "import", file))


def test_a_place_that_cannot_be_written_is_one_line(file: Path) -> None:
    assert "cannot be written" in refused(mas("dev", "import", file, "-o", file / "team.yaml"))


def test_an_input_has_a_name_and_a_value(file: Path) -> None:
    err = refused(mas("dev", "import", file, "--input", "topic"))
    assert mas("dev", "import", file, "--input", "topic=tea").exit_code == 0
    assert "--input 'topic': write NAME=VALUE" in err
