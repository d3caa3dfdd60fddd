"""`mas dev export`: what is refused, what is told to be lost, and what is written."""

from __future__ import annotations

from pathlib import Path

import pytest

from coterie.runtime.command.export import main

from ...came import Came, invoked

MODEL = ("--model", "openai/gpt-4o-mini")
LOSSY = """\
name: pair
constitution: Be kind.
defaults: {timeout: 20}
agents:
  solver: {prompt: Solve it.}
  second: {prompt: Solve it again.}
  judge: {prompt: Choose one., output_schema: {type: array}}
topology:
  reports_to: {solver: [second, judge], second: [judge]}
execution: {on_error: degrade}
"""


def export(folder: Path, text: str, *words: str) -> Came:
    (folder / "team.yaml").write_text(text, encoding="utf-8")
    return invoked(main, [str(folder / "team.yaml"), *words], "mas dev export")


def told(came: Came) -> list[str]:
    lines = [line for line in came.err.splitlines() if line.partition(":")[0].endswith(".yaml")]
    return [line.partition("team.yaml:")[2] for line in lines]


def test_what_is_lost_is_told_with_its_place(tmp_path: Path) -> None:
    came = export(tmp_path, LOSSY, "--to", "docker-agent", *MODEL)
    assert came.code == 0
    assert came.out.startswith("# pair, written by `mas dev export`")
    assert told(came) == [
        "2:15: warning: constitution: is lost: it stands in the instruction of each agent.",
        "3:21: warning: defaults.timeout: is lost: an agent has no limit of time there.",
        "5:11: warning: agents.solver: is lost: it works for each of second, judge anew there, not"
        " once.",
        "7:47: warning: agents.judge.output_schema: is lost: only objects with properties are held"
        " to a form there.",
        "10:23: warning: execution.on_error: is lost: where an agent fails, the whole run fails"
        " there.",
    ]


def test_less_is_lost_in_langgraph(tmp_path: Path) -> None:
    came = export(tmp_path, LOSSY, "--to", "langgraph", *MODEL)
    assert [line.split(":")[3] for line in told(came)] == [
        " agents.judge.output_schema",
        " execution.on_error",
    ]


@pytest.mark.parametrize("target", ["langgraph", "docker-agent"])
@pytest.mark.parametrize(
    ("agent", "rest", "says"),
    [
        (
            "{agent_type: ToolCallingAgent, prompt: Look., tools: [read_file]}",
            "",
            "2:13: error: agents.a: only agents of type LLM can be exported; this one's backend"
            " is smolagents.",
        ),
        ("{prompt: Say it., recall: {k: 2}}", "", "recall: a pool's memory is no part"),
        (
            "{prompt: Say it.}",
            "execution: {rounds: {most: 2}}\n",
            "execution.rounds: only teams whose agents work once",
        ),
    ],
)
def test_what_others_cannot_do_is_refused(
    tmp_path: Path, target: str, agent: str, rest: str, says: str
) -> None:
    text = f"name: t\nagents: {{a: {agent}}}\n{rest}"
    came = export(tmp_path, text, "--to", target, *MODEL)
    assert (came.code, came.out) == (2, "")
    assert says in came.err


def test_a_model_of_nobody_else_is_refused(tmp_path: Path) -> None:
    came = export(tmp_path, "name: t\nagents: {a: {prompt: Say it.}}\n", "--to", "langgraph")
    assert came.code == 2
    assert "'default' is the embedded model, which only coterie reaches. Say what" in came.err


@pytest.mark.parametrize(("target", "name"), [("langgraph", "reports"), ("docker-agent", "root")])
def test_names_that_mean_something_there_are_refused(
    tmp_path: Path, target: str, name: str
) -> None:
    text = f"""\
name: t
agents: {{{name}: {{prompt: Say it.}}, b: {{prompt: Judge it.}}}}
topology: {{reports_to: {{{name}: [b]}}}}
"""
    came = export(tmp_path, text, "--to", target, *MODEL)
    assert came.code == 2
    assert f"agents.{name}: " in came.err
    assert "Call it otherwise" in came.err.replace("\n", " ")


def test_nothing_is_written_over(tmp_path: Path) -> None:
    file = tmp_path / "graph.py"
    words = ("--to", "langgraph", "-o", str(file), *MODEL)
    text = "name: t\nagents: {a: {prompt: Say it.}}\n"
    assert export(tmp_path, text, *words).out == f"{file}\n"
    before = file.read_text("utf-8")
    came = export(tmp_path, text.replace("Say", "Sing"), *words)
    assert came.code == 2
    assert "is there already" in came.err
    assert file.read_text("utf-8") == before


def test_a_team_that_does_not_load_is_told_as_ever(tmp_path: Path) -> None:
    came = export(tmp_path, "name: t\nagents: {a: {prompt: 3}}\n", "--to", "langgraph", *MODEL)
    assert came.code == 2
    assert "2:22: error: agents.a.prompt: 3 is not text" in came.err


MODELS = """\
models:
  default:
    model: openai/m
    fallback: [spare]
    thinking_tokens: 1024
    body: {frequency_penalty: 0.5, seed_of: 1}
    header_env: {X-Token: TOKEN}
  spare: {model: openai/n}
"""


@pytest.mark.parametrize(
    ("target", "lost"),
    [
        ("langgraph", ["fallback", "header_env", "thinking_tokens"]),
        ("docker-agent", ["body", "fallback", "header_env"]),
    ],
)
def test_what_is_lost_of_models_is_told(tmp_path: Path, target: str, lost: list[str]) -> None:
    (tmp_path / "models.yaml").write_text(MODELS, encoding="utf-8")
    text = "name: t\nagents: {a: {prompt: Say it.}, b: {prompt: Judge it.}}\n"
    text += "topology: {reports_to: {a: [b]}}\n"
    words = ("--to", target, "--models", str(tmp_path / "models.yaml"))
    came = export(tmp_path, text, *words)
    assert [line.split("is lost: ")[1].split()[0] for line in told(came)] == lost
    assert "frequency_penalty" in came.out


def test_a_model_at_nobodys_address_is_refused(tmp_path: Path) -> None:
    text = "name: t\nagents: {a: {prompt: Say it.}}\n"
    came = export(tmp_path, text, "--to", "docker-agent", "--model", "replicate/m")
    assert came.code == 2
    assert "'default' is replicate/m, which only coterie reaches" in came.err


def test_a_place_that_is_none_is_told(tmp_path: Path) -> None:
    text = "name: t\nagents: {a: {prompt: Say it.}}\n"
    words = ("--to", "langgraph", "-o", str(tmp_path / "none" / "x.py"), *MODEL)
    came = export(tmp_path, text, *words)
    assert came.code == 2
    assert "cannot be written" in came.err
