"""Exported seeds under LangGraph itself: the same messages, and the same answers as our run.

The libraries are no dependencies of ours: an environment of their own is made, or
`MAS_LANGGRAPH_PYTHON` names a Python that has them.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import venv
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from coterie.runtime import run
from coterie.runtime.command.export import main as mas_export
from coterie.runtime.doubles import ScriptedModel, message_text

from ...came import invoked

pytestmark = pytest.mark.nightly

PACKAGES = ("langgraph==1.2.24", "langchain==1.5.2", "langchain-openai==1.7.4", "jsonschema")
SEEDS = (
    "debate_3", "direct", "majority_vote_3", "seats_debate", "seats_decompose",
    "seats_generator_critic", "seats_voting", "translate_and_calculate", "write_and_revise",
)  # fmt: skip
FORM = "Answer with one JSON value that fits this JSON Schema, and nothing else:\n"
QUERY = "What is 6 times 7? It costs $3."


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


def number(request: Mapping[str, Any]) -> int:
    return int(hashlib.sha256(message_text(request).encode()).hexdigest(), 16)


def instance(schema: Mapping[str, Any], seed: int) -> Any:
    """Return a value of a schema, which differs from seed to seed."""
    match schema.get("type"):
        case "object":
            fields: Mapping[str, Any] = schema.get("properties", {})
            return {name: instance(part, seed) for name, part in fields.items()}
        case "array":
            return [instance(schema["items"], seed)]
        case "integer" | "number":
            return seed % 3
        case "boolean":
            return seed % 2 == 0
        case _:
            return (
                schema["enum"][seed % len(schema["enum"])]
                if "enum" in schema
                else f"{seed % 9} + 1"
            )


def answers(request: Mapping[str, Any]) -> str:
    """Answer by the request alone: prose where JSON is asked for, and JSON after the repair."""
    seed, system = number(request), request["messages"][0]["content"]
    if FORM not in system:
        return f"I think so.\nAnswer: {seed % 3}"
    if len(request["messages"]) == 2 and seed % 2:
        return "I would rather say it in prose."
    schema = json.JSONDecoder().raw_decode(system.partition(FORM)[2])[0]
    return f"Here it is:\n```json\n{json.dumps(instance(schema, seed))}\n```"


def asked(model: ScriptedModel, since: int = 0) -> Counter[str]:
    """Count the conversations that a model was asked to go on with."""
    calls = (call.body["messages"] for call in model.calls[since:])
    return Counter(
        json.dumps([(one["role"], one["content"]) for one in messages]) for messages in calls
    )


@pytest.fixture
def model() -> Iterator[ScriptedModel]:
    with ScriptedModel(answers) as model:
        yield model


def both(folder: Path, python: Path, model: ScriptedModel, team: str) -> tuple[Any, Any]:
    """Return the answer and the conversations of our run, and of the program under LangGraph."""
    at = f"m@{model.api_base}"
    words = [team, "--to", "langgraph", "-o", str(folder / "graph.py"), "--model", at]
    came = invoked(mas_export, words, "mas export")
    assert came.code == 0, came.err
    answer = run(team if team.startswith("seed:") else Path(team), query=QUERY, model=at).answer
    ours = (f"{answer}\n", asked(model))
    before = len(model.calls)
    done = subprocess.run(
        [python, folder / "graph.py", QUERY],
        capture_output=True,
        text=True,
        timeout=120,
        env={"PATH": os.environ["PATH"], "LANGSMITH_TRACING": "false"},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return ours, (done.stdout, asked(model, since=before))


@pytest.mark.parametrize("seed", SEEDS)
def test_a_seed_asks_and_answers_as_here(
    tmp_path: Path, python: Path, model: ScriptedModel, seed: str
) -> None:
    ours, theirs = both(tmp_path, python, model, f"seed:{seed}")
    assert theirs == ours


TEAMS = {
    "finalized": """\
name: t
agents:
  writer: {prompt: Write it.}
  judge:
    prompt: Judge it.
    output_schema:
      type: object
      properties: {final: {type: boolean}, why: {type: string}}
      required: [final, why]
  editor: {prompt: Give it its last form.}
topology:
  reports_to: {writer: [judge, editor], judge: [editor]}
execution: {rounds: {most: 5, until: finalized, closing: [editor]}}
""",
    "never, with an opening": """\
name: t
agents:
  scout: {prompt: Look., role: scout}
  writer: {prompt: Write it.}
  critic: {prompt: Find faults., role: 'the "hard" critic'}
topology:
  reports_to: {scout: [writer, critic], critic: [writer]}
  output: writer
execution: {rounds: {most: 4, until: never, opening: [scout]}, context: ancestors}
""",
    "one that never answers": """\
name: t
agents:
  mute:
    prompt: Say nothing.
    output_schema: {type: object, properties: {x: {type: string, maxLength: 1}}, required: [x]}
  talker: {prompt: Talk.}
  judge: {prompt: Judge.}
topology:
  reports_to: {mute: [judge], talker: [judge]}
execution: {on_error: degrade, max_retries: 1}
""",
}


@pytest.mark.parametrize("name", TEAMS)
def test_a_team_asks_and_answers_as_here(
    tmp_path: Path, python: Path, model: ScriptedModel, name: str
) -> None:
    (tmp_path / "team.yaml").write_text(TEAMS[name])
    ours, theirs = both(tmp_path, python, model, str(tmp_path / "team.yaml"))
    assert theirs == ours
