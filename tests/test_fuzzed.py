"""Input that coverage guides: whatever it is, readers end in the errors that they tell of.

`fuzzing.py` searches, a process for each reader. It begins with what is sound, which is made here.
"""

import importlib.util
import json
import subprocess
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

import pytest

from .pool.every_kind import pool_of_every_kind
from .runtime.gateway.wires.test_wires_hostile import BODIES, STREAMS
from .test_hostile_files import FILES, TEAM

ROOT = Path(__file__).parent.parent
READERS = (
    "answers",
    "edits",
    "foreign",
    "ledger",
    "models",
    "recipe",
    "secrets",
    "streams",
    "structured",
    "table",
    "task",
    "team",
    "tools",
)
SAID = 'So be it.\n```json\n{"answer": "7", "why": ["a", 1.5]}\n```\n<think>{"answer": 8}</think>'
EDITS = {
    "reason": "it did not think",
    "edits": [
        {"set_prompt": {"agent": "one", "prompt": "Think."}},
        {
            "add_agent": {
                "agent": "two",
                "fields": {"prompt": "Check."},
                "place": {"reports_to": ["one"]},
            }
        },
        {"set_tools": {"agent": "one", "tools": ["read_file"]}},
    ],
}
DOCKER_AGENT = """\
models:
  m: {provider: openai, model: gpt-4o, max_tokens: 100}
agents:
  root: {model: m, description: Leads., instruction: Lead., sub_agents: [one], toolsets: [{type: think}]}
  one: {model: openai/gpt-4o, description: Works., instruction: Work., structured_output: {name: a, schema: {type: object}}}
"""  # noqa: E501
TABLE = 'id,query,answer,scorer,niche\na,How much is 3 + 4?,7,number,sums\n"b","a ""b""",8,,\n'
KEYS = (
    'export OPENAI_API_KEY="sk-proj-4f9Kq2ZxW7" # https://me:secret@host/ c2stcHJvai00ZjlLcTJaeFc3'
)


def lines(values: Iterable[object]) -> str:
    return "\n".join(json.dumps(value) for value in values)


def unsealed(folder: Path) -> str:
    result = [json.loads(line) for line in (folder / "ledger.jsonl").read_text().splitlines()]
    return lines({name: item[name] for name in item if name != "crc"} for item in result)


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, list[str]]:
    """What each reader begins with."""
    pool = pool_of_every_kind(tmp_path_factory.mktemp("every") / "pool")
    return {
        "answers": [json.dumps(body) for body in BODIES.values()],
        "edits": [json.dumps(EDITS), *(json.dumps({"edits": [edit]}) for edit in EDITS["edits"])],
        "foreign": [DOCKER_AGENT],
        "ledger": [unsealed(pool)],
        "models": [FILES["models.yaml"]],
        "recipe": [
            FILES["recipe.yaml"].replace("policy: policy.yaml\n", ""),
            FILES["chamber.yaml"],
        ],
        "secrets": [KEYS],
        "streams": [lines(events) for events in STREAMS.values()],
        "structured": [SAID],
        "table": [TABLE],
        "task": [
            FILES["task.json"].replace('{"path": "a.txt"}', '"text"'),
            "id: t\nquery: What?\nanswer: 12\nscorer: {name: number, tolerance: 0.5}\n",
        ],
        "team": [
            TEAM.replace("use: agents/two.yaml", "prompt: Check."),
            *(path.read_text() for path in sorted(ROOT.glob("seeds/*.yaml"))),
        ],
        "tools": [FILES["tools.yaml"]],
    }


@pytest.mark.skipif(not importlib.util.find_spec("atheris"), reason="atheris is not installed")
@pytest.mark.nightly
@pytest.mark.parametrize("name", READERS)
def test_nothing_breaks_a_reader(name: str, sound: Mapping[str, list[str]], tmp_path: Path) -> None:
    corpus = tmp_path / "corpus"
    corpus.mkdir()
    for number, text in enumerate(sound[name]):
        (corpus / str(number)).write_text(text)
    options = ["-seed=1", "-max_total_time=1200", f"-artifact_prefix={tmp_path}/"]
    done = subprocess.run(
        [sys.executable, "-m", "tests.fuzzing", name, *options, str(corpus)],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert not done.returncode, done.stderr[-3_000:]
    assert "DONE" in done.stderr, done.stderr[-3_000:]
