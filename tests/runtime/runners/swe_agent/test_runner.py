"""SWE-agent as a backend, with a stand-in for SWE-agent that keeps to its files and calls.

SWE-agent itself is not on package indexes, so what these tests show is our side: settings, the
calls, the patch, failures, and that nothing is left. `test_swe_agent_itself.py` has the rest.
"""

import asyncio
import os
from dataclasses import replace
from pathlib import Path

import pytest

from coterie.runtime.doubles import Reply, ScriptedModel
from coterie.runtime.gateway import ChatAnswer, ToolRequest
from coterie.runtime.repository.changes import RepositoryChange
from coterie.runtime.repository.workspace import Workspaces
from coterie.runtime.runners.swe_agent.runner import SweAgentRunner
from coterie.schema import Agent, AgentError, Task

from ....jails import holding, needs_jail
from ..conftest import Line, Workbench, assignment, body_of, result_of

pytestmark = [needs_jail, pytest.mark.usefixtures("nothing_left")]

SUBMIT = Reply.tool("submit")
REPAIR = Reply.bash("sed -i 's/a - b/a + b/' toy.py")


@pytest.fixture
def swe_agent(stand_in: Path, monkeypatch: pytest.MonkeyPatch) -> Agent:
    monkeypatch.setenv("MAS_SWE_AGENT_PYTHON", str(stand_in))
    return Agent(id="engineer", agent_type="SWEAgent", prompt="Be careful.")


def repair(repository: Path) -> Task:
    return Task(id="toy", query="add(2, 2) gives {{ 0 }}.", repo=repository)


def test_its_patch_is_the_answer(workbench: Workbench, swe_agent: Agent, repository: Path) -> None:
    with ScriptedModel([REPAIR, SUBMIT]) as model:
        done = workbench.run(model, swe_agent, task=repair(repository))
        assert "Be careful." in model.calls[0].text
        assert "add(2, 2) gives {{ 0 }}." in model.calls[0].text
        assert body_of(model, 0)["tools"][0]["function"]["name"] == "bash"
        assert "exit code 0" in model.calls[1].text
    result = result_of(done, "engineer")
    assert done.answer == result.content == result.patch
    assert "+    return a + b" in result.content
    assert "__pycache__" not in result.content
    assert done.usage.calls == 2
    assert len(workbench.of("model_call")) == 2
    (log,) = workbench.of("program_log")
    assert len(log.fields["text"]) == 100_000
    assert log.fields["text"].endswith("a lot of words, \n")


def test_a_colleagues_patch_is_where_it_starts_and_in_its_own(
    workbench: Workbench, swe_agent: Agent, repository: Path
) -> None:
    agents = (
        Agent(id="first", agent_type="SWEAgent"),
        Agent(id="second", agent_type="SWEAgent", prompt="You are second."),
    )
    script = {
        "You are second.": [Reply.bash("grep 'a + b' toy.py && echo '#' >> toy.py"), SUBMIT],
        "": [REPAIR, SUBMIT],
    }
    with ScriptedModel(script) as model:  # pyright: ignore[reportArgumentType]
        edges = {"first": ("second",)}
        done = workbench.run(model, *agents, task=repair(repository), reports_to=edges)
    assert "+    return a + b\n+#" in str(done.answer)


def test_a_failing_call_fails_it(workbench: Workbench, swe_agent: Agent, repository: Path) -> None:
    with ScriptedModel(Reply.error(500)) as model:
        done = workbench.run(model, swe_agent, task=repair(repository))
        assert len(model.calls) == 1
    assert "HTTP 500" in str(done.error)


def test_its_steps_are_bounded(workbench: Workbench, swe_agent: Agent, repository: Path) -> None:
    agent = Agent(id="engineer", agent_type="SWEAgent", max_steps=2)
    with ScriptedModel(Reply.bash("true")) as model:
        done = workbench.run(model, agent, task=repair(repository))
        assert len(model.calls) == 2
    assert "it used its 2 steps without handing in its work" in str(done.error)


def test_submitting_nothing_fails(workbench: Workbench, swe_agent: Agent, repository: Path) -> None:
    with ScriptedModel(SUBMIT) as model:
        done = workbench.run(model, swe_agent, task=repair(repository))
    assert "without having changed anything" in str(done.error)


def test_its_timeout_ends_it_all(workbench: Workbench, swe_agent: Agent, repository: Path) -> None:
    mark = f"100.{os.getpid()}"
    with ScriptedModel(Reply.bash(f"setsid sleep {mark} & sleep {mark}")) as model:
        done = workbench.out_of_time(
            model, swe_agent, lambda: len(holding(mark)) == 2, task=repair(repository)
        )
        assert len(model.calls) == 1
    assert holding(mark) == []
    assert "it reached its timeout, 60 seconds of work." in str(done.error)


def test_what_git_cannot_merge_must_not_be_left(swe_agent: Agent, repository: Path) -> None:
    events: list[str] = []
    answers = iter(
        ChatAnswer(text="", tool_calls=(ToolRequest(id="1", name=name, arguments=arguments),))
        for name, arguments in (("bash", '{"command": "cat toy.py"}'), ("submit", "{}"))
    )
    line = Line(lambda _messages, _tools: next(answers))
    with Workspaces(repair(repository)) as home:
        given = replace(
            assignment(swe_agent, line, home, start=[changed(home, "ann"), changed(home, "bob")]),
            emit=lambda event, /, **_: events.append(event),
        )
        with pytest.raises(AgentError, match=r"it left what git could not merge.*by/ann"):
            asyncio.run(SweAgentRunner().run(given))
    asked, seen = (str(messages[-1]["content"]) for messages in line.seen)
    assert "Your work folder starts from the work of ann, bob." in asked
    assert "- CONFLICT (content): Merge conflict in toy.py" in asked
    assert "<<<<<<< by/ann" in seen
    assert events == ["work_merged", "program_log"]


def changed(home: Workspaces, agent: str) -> RepositoryChange:
    """What an agent makes of the line that is wrong."""
    workspace = home.of(agent, 1)
    (workspace.path / "toy.py").write_text(f"def add(a, b):\n    return {agent}\n", "utf-8")
    return RepositoryChange(agent=agent, patch=workspace.diff())


def test_without_a_repository_it_does_not_run(workbench: Workbench, swe_agent: Agent) -> None:
    with ScriptedModel(SUBMIT) as model:
        done = workbench.run(model, swe_agent, task=Task(id="t", query="?"))
    assert "needs a task with a repo" in str(done.error)


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (
            ("sweagent-1.1.0.dist-info/METADATA", "Name: sweagent\nVersion: 1.0.1\n"),
            "has sweagent 1.0.1, and 1.1 or later is needed",
        ),
        (("sweagent/__init__.py", "assert False, 'no such folder'"), "is not usable in"),
        (("sweagent/run/run_single.py", "raise ValueError('what a day')"), "what a day"),
        (("bin/python", "#!/bin/sh\necho hello\n"), "not a Python that can be asked"),
        (("bin/python", "#!/bin/sh\necho hello >&2\nexit 1\n"), "which failed: hello"),
    ],
)
def test_an_unusable_installation_is_an_error_that_says_so(
    workbench: Workbench, swe_agent: Agent, repository: Path, damage: tuple[str, str], message: str
) -> None:
    file, text = damage
    home = Path(os.environ["MAS_SWE_AGENT_PYTHON"]).parents[1]
    (home / file).write_text(text, "utf-8")
    with ScriptedModel(SUBMIT) as model:
        done = workbench.run(model, swe_agent, task=repair(repository))
    assert message in str(done.error)


def test_its_commands_see_neither_its_users_keys_nor_another_attempt(
    workbench: Workbench, swe_agent: Agent, repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECRET_TOKEN", "of-the-host")
    home = Path(os.environ["MAS_SWE_AGENT_PYTHON"]).parents[1]
    look = f"env; cat {home}/.env; ls -A /root /; cat /proc/*/environ | tr '\\0' ' '"
    leave = "touch /root/left /tmp/left; sleep 100 >/dev/null 2>&1 &"
    with ScriptedModel([Reply.bash(look), Reply.bash(leave), REPAIR, SUBMIT] * 2) as model:
        for _ in range(2):
            done = workbench.run(model, swe_agent, task=repair(repository))
            assert done.status == "done"
        seen = [body_of(model, call)["messages"][-1]["content"] for call in (1, 5)]
    for text in seen:
        assert "state.json" in text
        assert "left" not in text
        assert "of-the-host" not in text
        assert "sk-of-the-person" not in text


@pytest.mark.parametrize("value", [None, "/nowhere/python"])
def test_a_missing_installation_is_objected_to_with_the_way_to_get_it(
    monkeypatch: pytest.MonkeyPatch, value: str | None
) -> None:
    monkeypatch.delenv("MAS_SWE_AGENT_PYTHON", raising=False)
    if value:
        monkeypatch.setenv("MAS_SWE_AGENT_PYTHON", value)
    (objection,) = SweAgentRunner.objections(Agent(id="a", agent_type="SWEAgent"))
    assert "set MAS_SWE_AGENT_PYTHON" in objection
