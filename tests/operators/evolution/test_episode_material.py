"""What really happened in an evolution reaches its operators."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from coterie.operators.command.evolve import main
from coterie.runtime.doubles import Call, Reply, ScriptedModel
from coterie.runtime.doubles.script import Request

TEAM = """\
name: solo
agents:
  one: {agent_type: ToolCallingAgent, tools: [read_file], max_steps: 4, prompt: "Read it."}
"""
RECIPE = """\
strategy: evomas
seeds: [solo.yaml]
settings: {parents: 1, steps: 1, memory: 0, instantiate: false, components: [prompts]}
"""
TASK = {"id": "t", "query": "What does it say?", "answer": "7"}


def answered(request: Request) -> Reply:
    """As an agent: read a file that is not there, then guess. As an operator: a new prompt."""
    shown = json.dumps(request["messages"])
    if "response_format" in request:
        edit = {"set_prompt": {"agent": "one", "prompt": "Look at what there is first."}}
        return Reply.json({"reason": "it guessed", "edits": [edit]})
    if "nothere.txt" in shown:
        return Reply.tool("final_answer", answer="8")
    return Reply.tool("read_file", path="nothere.txt")


@pytest.fixture
def asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Call]:
    """What a model was asked in an evolution of one task."""
    monkeypatch.setenv("MAS_HOME", str(tmp_path))
    (tmp_path / "solo.yaml").write_text(TEAM)
    (tmp_path / "recipe.yaml").write_text(RECIPE)
    (tmp_path / "tasks.jsonl").write_text(json.dumps(TASK) + "\n")
    with ScriptedModel(answered) as model:
        arguments: list[Any] = [tmp_path / "recipe.yaml", tmp_path / "tasks.jsonl"]
        arguments += ["--pool", tmp_path / "pool", "--model", f"m@{model.api_base}"]
        done = CliRunner().invoke(main, [str(argument) for argument in arguments])
        assert done.exit_code == 0, done.output
        return list(model.calls)


def test_a_tool_that_failed_is_told_to_the_mutation(asked: list[Call]) -> None:
    [mutation] = [call for call in asked if "Change one component of it" in call.text]
    assert "one: done; tool read_file failed: " in mutation.text
    assert "output: 8" in mutation.text
