"""No library that agents bring asks any host but the model's, from its import to its answer."""

import json
import subprocess
import sys
from pathlib import Path

SCRIPT = """
import json, sys
places = set()

def watched(event, arguments):
    if event == "socket.getaddrinfo":
        places.add(str(arguments[0]))
    if event in ("socket.connect", "socket.sendto") and isinstance(arguments[1], tuple):
        places.add(arguments[1][0])

sys.addaudithook(watched)
from coterie.runtime import run
from coterie.runtime.doubles import Reply, ScriptedModel
from coterie.schema import Agent, Task, Team

submits = {"command": "echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT; echo four"}
said = {
    "LLM": "four",
    "ToolCallingAgent": Reply.tool("final_answer", answer="four"),
    "CodeAgent": '<code>\\nfinal_answer("four")\\n</code>',
    "DefaultAgent": Reply.tool("bash", **submits),
}
answers = {}
for kind, reply in said.items():
    agent = Agent(id="asked", prompt="Answer.", **({"agent_type": kind} if kind != "LLM" else {}))
    with ScriptedModel(reply) as model:
        done = run(
            Team(name="asked", agents={"asked": agent}),
            Task(id="sum", query="What is two and two?"),
            model=[f"m@{model.api_base}"],
            unsafe_local=True,
        )
    answers[kind] = done.error or done.answer.strip()
print(json.dumps([sorted(places), answers]))
"""


def test_only_the_model_is_asked_by_any_kind_of_agent(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    places, answers = json.loads(done.stdout.splitlines()[-1])
    assert [*answers] == ["LLM", "ToolCallingAgent", "CodeAgent", "DefaultAgent"]
    assert {*answers.values()} == {"four"}
    assert places == ["127.0.0.1"]
