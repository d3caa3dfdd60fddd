"""Exported seeds under LangGraph itself: the same messages, and the same answers as our run.

The libraries are no dependencies of ours: an environment of their own is made, or
`MAS_LANGGRAPH_PYTHON` names a Python that has them.
"""

import json
import os
import subprocess
import sys
import venv
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from coterie.runtime import run
from coterie.runtime.command.export import main as mas_export
from coterie.runtime.doubles import Reply, ScriptedModel
from coterie.schema.team.writing import write_yaml

from ...support.commands import invoked
from .answering import QUERY, TEAMS, answers, asked

pytestmark = pytest.mark.nightly

PACKAGES = (
    "langgraph==1.2.24",
    "langchain==1.5.2",
    "langchain-openai==1.7.4",
    "jsonschema",
    "langchain-mcp-adapters==0.3.2",
)
SEEDS = (
    "debate_3", "direct", "majority_vote_3", "seats_debate", "seats_decompose",
    "seats_generator_critic", "seats_voting", "translate_and_calculate", "write_and_revise",
)  # fmt: skip


@pytest.fixture(scope="session")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a Python that has LangGraph and its OpenAI client."""
    if named := os.environ.get("MAS_LANGGRAPH_PYTHON"):
        return Path(named)
    folder = tmp_path_factory.mktemp("langgraph")
    venv.create(folder, with_pip=True)
    program = folder / "bin" / "python"
    subprocess.run([program, "-m", "pip", "install", "-q", *PACKAGES], check=True, timeout=600)
    return program


@pytest.fixture
def model() -> Iterator[ScriptedModel]:
    with ScriptedModel(answers) as model:
        yield model


def both(folder: Path, python: Path, model: ScriptedModel, team: str) -> tuple[Any, Any]:
    """Return the answer and the conversations of our run, and of the program under LangGraph."""
    at = f"m@{model.api_base}"
    words = [team, "--to", "langgraph", "-o", str(folder / "graph.py"), "--model", at]
    invoked(mas_export, words, "mas dev export").ended(0)
    answer = run(team if team.startswith("seed:") else Path(team), query=QUERY, model=at).answer
    ours = (f"{answer}\n", asked(model))
    before = len(model.calls)
    text = under_langgraph(python, folder / "graph.py")
    return ours, (text, asked(model, since=before))


def under_langgraph(python: Path, file: Path, **variables: str) -> str:
    """Return what an exported program prints."""
    done = subprocess.run(
        [python, file, QUERY],
        capture_output=True,
        text=True,
        timeout=120,
        env={"PATH": os.environ["PATH"], "LANGSMITH_TRACING": "false", **variables},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("seed", SEEDS)
def test_a_seed_asks_and_answers_as_here(
    tmp_path: Path, python: Path, model: ScriptedModel, seed: str
) -> None:
    ours, theirs = both(tmp_path, python, model, f"seed:{seed}")
    assert theirs == ours


@pytest.mark.parametrize("name", TEAMS)
def test_a_team_asks_and_answers_as_here(
    tmp_path: Path, python: Path, model: ScriptedModel, name: str
) -> None:
    (tmp_path / "team.yaml").write_text(TEAMS[name])
    ours, theirs = both(tmp_path, python, model, str(tmp_path / "team.yaml"))
    assert theirs == ours


TOOLED = """\
name: t
agents:
  reader:
    agent_type: ToolCallingAgent
    prompt: Read the file.
    tools: [list_files, read_file, search_text, clock.act]
    max_steps: 5
"""
SERVER = Path(__file__).parents[1] / "tools" / "scripted_server.py"


def test_tools_are_called(tmp_path: Path, python: Path) -> None:
    (tmp_path / "team.yaml").write_text(TOOLED)
    acted = json.dumps({"tools/call": {"content": [{"type": "text", "text": "acted"}]}})
    command = [sys.executable, "-I", "-S", str(SERVER), acted]
    servers = {"servers": {"clock": {"command": command, "tools": ["act"]}}}
    (tmp_path / "tools.yaml").write_text(write_yaml(servers))
    (tmp_path / "files").mkdir()
    (tmp_path / "files" / "a.txt").write_text("first\nneedle here\n")
    calls = [
        Reply.tool("list_files"),
        Reply.tool("read_file", path="a.txt"),
        Reply.tool("search_text", text="needle"),
        Reply.tool("act"),
        "It has a needle.",
    ]
    with ScriptedModel(calls) as model:
        words = [str(tmp_path / "team.yaml"), "--to", "langgraph", "--model", f"m@{model.api_base}"]
        words += ["--tools", str(tmp_path / "tools.yaml"), "-o", str(tmp_path / "graph.py")]
        invoked(mas_export, words, "mas dev export").ended(0)
        done = under_langgraph(python, tmp_path / "graph.py", TASK_FILES=str(tmp_path / "files"))
        last = model.calls[-1].body
    assert done == "It has a needle.\n"
    report = [message["content"] for message in last["messages"] if message["role"] == "tool"]
    assert report[:3] == ["a.txt", "first\nneedle here\n", "a.txt:2: needle here"]
    assert "acted" in str(report[3])
    names = {tool["function"]["name"] for tool in last["tools"]}
    assert names == {"list_files", "read_file", "search_text", "act"}
