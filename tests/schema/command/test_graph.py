from pathlib import Path

import pytest

from ...support.commands import mas, printed, refused

TEAM = """\
name: pair
agents:
  writer: {agent_type: LLM, model_id: nowhere, prompt: no_such_prompt, tools: [no_such_tool]}
  editor: {agent_type: Unheard, backend: no_such_backend}
topology:
  reports_to: {writer: [editor]}
"""


@pytest.fixture
def team(tmp_path: Path) -> Path:
    path = tmp_path / "team.yaml"
    path.write_text(TEAM, encoding="utf-8")
    return path


def test_the_terminal_shows_text(team: Path) -> None:
    assert printed(mas("dev", "graph", team)).startswith("pair · 2 agents · 1 edge · 2 levels\n")


@pytest.mark.parametrize(
    ("picture_format", "start"), [("mermaid", "flowchart LR\n"), ("svg", "<svg ")]
)
def test_another_format_is_a_choice(team: Path, picture_format: str, start: str) -> None:
    assert mas("dev", "graph", team, "--format", picture_format).stdout.startswith(start)


@pytest.mark.parametrize(
    ("name", "start"),
    [("t.mmd", "flowchart"), ("t.svg", "<svg"), ("t.txt", "pair ·")],
)
def test_the_suffix_says_what_it_gets(team: Path, tmp_path: Path, name: str, start: str) -> None:
    done = mas("dev", "graph", team, "-o", tmp_path / name)
    assert (done.exit_code, done.output) == (0, "")
    assert (tmp_path / name).read_text(encoding="utf-8").startswith(start)


def test_a_format_that_is_named_comes_before_the_suffix(team: Path, tmp_path: Path) -> None:
    mas("dev", "graph", team, "--format", "mermaid", "-o", tmp_path / "t.svg")
    assert (tmp_path / "t.svg").read_text(encoding="utf-8").startswith("flowchart")


def test_a_graph_that_is_wrong_is_refused_with_all_its_problems(tmp_path: Path) -> None:
    path = tmp_path / "wrong.yaml"
    path.write_text(
        "name: wrong\nagents:\n  a: {max_tokens: lots, model_id: nowhere}\n  b: {}\n"
        "topology:\n  reports_to: {a: [b, nobody], b: [a]}\n",
        encoding="utf-8",
    )
    done = mas("dev", "graph", path)
    assert done.exit_code == 2
    assert done.stdout == ""
    assert len(done.stderr.splitlines()) == 3
    for rule in ("'lots' is not an integer", "no agent 'nobody'", "a cycle: "):
        assert rule in done.stderr


@pytest.mark.parametrize("text", ["name: [", "- a\n", "name: t\nagents: 5\n", ""])
def test_a_file_without_a_graph_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "team.yaml"
    path.write_text(text, encoding="utf-8")
    err = refused(mas("dev", "graph", path))
    assert err.startswith(f"{path}:")
    assert "Traceback" not in err


def test_a_secret_is_not_drawn(team: Path) -> None:
    key = "sk-" + "a1B2c3D4e5" * 4
    team.write_text(TEAM.replace("nowhere", key), encoding="utf-8")
    done = mas("dev", "graph", team)
    assert done.exit_code == 2
    assert key not in done.output


def test_a_missing_file_and_a_missing_folder_are_said(team: Path, tmp_path: Path) -> None:
    assert "Did you mean 'team.yaml'?" in mas("dev", "graph", tmp_path / "teem.yaml").stderr
    err = refused(mas("dev", "graph", team, "-o", tmp_path / "no" / "t.svg"))
    assert "cannot be written" in err
