"""SWE-agent itself, where it is installed: whole runs of it, in its jail."""

import os
import tempfile
import threading
from pathlib import Path
from typing import Any

import pytest

from coterie.runtime.doubles import Reply, ScriptedModel
from coterie.runtime.jail.tiers import Bubblewrap
from coterie.schema import Agent, Task

from ....jails import needs_jail, printed, require
from ....support.commands import started
from ..conftest import Workbench, result_of

pytestmark = [
    needs_jail,
    pytest.mark.skipif(
        not Path(os.environ.get("MAS_SWE_AGENT_PYTHON", "")).is_file(),
        reason="MAS_SWE_AGENT_PYTHON names no Python, and SWE-agent is not on package indexes",
    ),
    pytest.mark.usefixtures("nothing_left"),
]

TEAM = "name: t\nagents: {engineer: {agent_type: SWEAgent}}\nexecution: {max_retries: 0}\n"
ENGINEER = Agent(id="engineer", agent_type="SWEAgent", prompt="Be careful.")
AS_ANYBODY = """
import os, subprocess, tempfile
from pathlib import Path
_, _, team, api_base = sys.argv
with tempfile.TemporaryDirectory() as home:
    os.environ |= {"HOME": home, "MAS_HOME": home}
    os.chdir(home)
    Path("team.yaml").write_text(team)
    Path("task.yaml").write_text("id: t\\nquery: Repair it.\\nrepo: toy\\n")
    Path("toy").mkdir()
    Path("toy/toy.py").write_text("def add(a, b):\\n    return a - b\\n")
    person = ["-c", "user.name=t", "-c", "user.email=t@localhost"]
    for words in (["init"], ["add", "."], [*person, "commit", "--message", "toy"]):
        subprocess.run(["git", "-C", "toy", *words], stdout=subprocess.DEVNULL, check=True)
    mas_run = [sys.executable, "-m", "coterie.schema.command", "run", "team.yaml", "task.yaml"]
    sys.exit(subprocess.run([*mas_run, "--model", f"m@{api_base}"]).returncode)
"""
REPAIR = Reply.bash("sed -i 's/a - b/a + b/' toy.py")
SUBMIT = Reply.tool("submit")  # which asks for a review, and wants to be called again


def repair(repository: Path) -> Task:
    return Task(id="toy", query="add(2, 2) gives {{ 0 }}.", repo=repository)


def test_two_of_them_in_one_team(workbench: Workbench, repository: Path) -> None:
    second = Agent(id="second", agent_type="SWEAgent", prompt="You are second.", max_steps=4)
    look = Reply.bash("ls -A /root /tmp; pip download x; touch /root/left")
    script = {
        "You are second.": [
            *[Reply.bash("touch /root/left /tmp/left")] * 4,  # until it has no steps left
            Reply.bash("ls /root/left /tmp/left || (grep 'a + b' toy.py && echo '#' >> toy.py)"),
            *(SUBMIT, SUBMIT),
        ],
        "": [REPAIR, look, SUBMIT, SUBMIT],
    }
    with ScriptedModel(script) as model:  # pyright: ignore[reportArgumentType]
        done = workbench.run(
            model, ENGINEER, second, task=repair(repository),
            reports_to={"engineer": ("second",)}, max_retries=1,
        )  # fmt: skip
        first = model.calls[0].text
        assert "Be careful." in first
        assert "add(2, 2) gives {{ 0 }}." in first
        assert "<uploaded_files>\n/repo" in first
    assert "+    return a + b\n+#" in str(done.answer)
    steps = result_of(done, "engineer").steps
    assert [step["command"] for step in steps][2:] == ["submit", "submit"]
    assert "left" not in steps[1]["output"]
    assert "No matching distribution" in steps[1]["output"]
    assert "+    return a + b" in steps[2]["output"]
    assert done.usage.calls == 11
    (retried,) = workbench.of("agent_retried")
    assert (retried.agent, retried.fields["attempt"]) == ("second", 1)
    assert "used its 4 steps" in retried.fields["error"]
    logs = workbench.of("program_log")
    assert [log.agent for log in logs] == ["engineer", "second", "second"]
    assert "a + b" in logs[0].fields["text"]


@pytest.mark.nightly
def test_ten_runs_leave_nothing(
    workbench: Workbench,
    repository: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    temporary = tmp_path / "temporary"
    temporary.mkdir(mode=0o711)
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    before = {*Path("/").iterdir(), *Path.home().iterdir()}
    for _ in range(10):
        with ScriptedModel([REPAIR, SUBMIT, SUBMIT]) as model:
            done = workbench.run(model, ENGINEER, task=repair(repository))
        assert done.status == "done", done.error
        assert list(temporary.iterdir()) == []
    assert {*Path("/").iterdir(), *Path.home().iterdir()} == before


def test_a_killed_run_goes_on_without_paying_twice(repository: Path, tmp_path: Path) -> None:
    (tmp_path / "team.yaml").write_text(TEAM, "utf-8")
    (tmp_path / "task.yaml").write_text("id: t\nquery: Repair it.\nrepo: toy\n", "utf-8")
    reached = threading.Event()

    def begun(call: Any) -> Reply:
        if len(call["messages"]) < 3:
            return REPAIR
        reached.set()
        return Reply.fault("hang")

    with ScriptedModel({"": begun}) as model:
        run = started(tmp_path, "team.yaml", "task.yaml", "--model", f"m@{model.api_base}")
        assert reached.wait(300)
        run.kill()
        run.communicate()
    (folder,) = (tmp_path / "runs").iterdir()
    with ScriptedModel([SUBMIT, SUBMIT]) as model:
        run = started(tmp_path, "--resume", str(folder), "--model", f"m@{model.api_base}")
        out, err = run.communicate()
        assert run.returncode == 0, err
    assert "+    return a + b" in out
    assert "answers from the journal" in err


def test_an_ordinary_user_can_have_it() -> None:
    tier = Bubblewrap()
    require(tier, "an ordinary user")
    probe = "import os\nprint(os.access(os.environ['MAS_SWE_AGENT_PYTHON'], os.X_OK))"
    if printed("an ordinary user", probe, tier) != "True\n":
        pytest.skip("an ordinary user may not run the Python that MAS_SWE_AGENT_PYTHON names")
    with ScriptedModel([REPAIR, SUBMIT, SUBMIT]) as model:
        out = printed("an ordinary user", AS_ANYBODY, tier, TEAM, model.api_base)
    assert "+    return a + b" in out
