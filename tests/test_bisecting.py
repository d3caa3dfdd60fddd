"""`git bisect run` finds the task after which a pool's best team fails, as docs/pools.md says."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from coterie.operators.command.evolve import main as mas_evolve
from coterie.runtime.doubles import Reply, ScriptedModel
from coterie.runtime.doubles.script import Request

from .support.commands import invoked_in

PAGE = (Path(__file__).parents[1] / "docs" / "pools.md").read_text(encoding="utf-8")
RECIPE = """\
strategy: evomas
seeds: [solo.yaml]
workers: 1
settings:
  {parents: 1, steps: 1, instantiate: false, components: [prompts], moves: [mutate], memory: 0}
"""
TURN = 2
"""The first task at which the child is right and its parent is not."""

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")


def oracle(request: Request) -> Reply:
    """Propose the same child always, which is right from one task on, and its parent before it."""
    form = request.get("response_format", {}).get("json_schema", {}).get("schema", {})
    wanted = form.get("properties", {})
    if "edits" in wanted:
        edit = {"set_prompt": {"agent": "one", "prompt": "Be quick."}}
        return Reply.json({"reason": "It is slow.", "edits": [edit]})
    if "selected" in wanted:
        first = wanted["selected"]["items"]["enum"][:1]
        return Reply.json({"reason": "It is the most promising.", "selected": first})
    if "summary" in wanted:
        return Reply.json({"summary": "Quick agents are quick."})
    text = json.dumps(request["messages"])
    (number,) = set(re.findall(r"What is (\d) \+", text))
    return Reply(text="7" if (int(number) >= TURN) == ("Be quick." in text) else "8")


def task(number: int) -> str:
    query = f"What is {number} + {7 - number}?"
    return json.dumps({"id": f"t{number}", "query": query, "answer": "7"}) + "\n"


def test_it_finds_the_task_that_brought_a_worse_team(tmp_path: Path) -> None:
    pool = tmp_path / "pool"
    (block,) = re.findall(r"^```bash\n(git bisect .*?)^```", PAGE, re.DOTALL | re.MULTILINE)
    (tmp_path / "solo.yaml").write_text('name: solo\nagents: {one: {prompt: "You are alone."}}\n')
    (tmp_path / "recipe.yaml").write_text(RECIPE)
    (tmp_path / "tasks.jsonl").write_text("".join(map(task, range(TURN + 1))))
    (tmp_path / "task.json").write_text(task(1))
    environment = {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "HOME": str(tmp_path),
        "MAS_HOME": str(tmp_path),
    }

    def told(folder: Path, *command: str) -> str:
        done = subprocess.run(
            command, cwd=folder, env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    with ScriptedModel(oracle) as model:
        models = f"models: {{default: {{model: m, api_base: '{model.api_base}'}}}}\n"
        (tmp_path / "models.yaml").write_text(models)
        words = ["recipe.yaml", "tasks.jsonl", "--pool", "pool", "--git"]
        assert invoked_in(tmp_path, mas_evolve, words, "mas-evolve").code == 0
        text = told(pool, "sh", "-e", "-c", block)
    grep = f"--grep=^t{TURN}: 1 by solo_[a-z2-7]*$"
    guilty, winner = told(pool, "git", "log", grep, "--format=%H %s").split(maxsplit=1)
    winner = winner.split()[-1]
    assert f"{guilty} is the first bad commit" in text
    assert f"teams/{winner}.yaml" in text
    assert told(pool, "git", "status", "--porcelain") == ""
    shown = told(pool, "mas-pool", "show", ".", winner)
    assert "It is slow." in shown
