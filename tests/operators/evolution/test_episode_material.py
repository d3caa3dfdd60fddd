"""What really happened in an evolution reaches its operators."""

import json
from pathlib import Path

import pytest

from coterie.runtime.doubles import Call, Reply
from coterie.runtime.doubles.script import Request

from ..evolving import evolve

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
def asked(tmp_path: Path) -> list[Call]:
    """What a model was asked in an evolution of one task."""
    (tmp_path / "solo.yaml").write_text(TEAM)
    (tmp_path / "recipe.yaml").write_text(RECIPE)
    (tmp_path / "tasks.jsonl").write_text(json.dumps(TASK) + "\n")
    return evolve(tmp_path, "pool", script=answered).ended(0).asked


def test_a_tool_that_failed_is_told_to_the_mutation(asked: list[Call]) -> None:
    [mutation] = [call for call in asked if "Change one component of it" in call.text]
    assert "one: done; tool read_file failed: " in mutation.text
    assert "output: 8" in mutation.text
