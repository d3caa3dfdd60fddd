"""SWE-agent as a backend, with a stand-in for SWE-agent that keeps to its files and calls.

SWE-agent itself is not on package indexes, so what these tests show is our side: settings, the
endpoint, the patch, failures, and that nothing is left.
"""

from __future__ import annotations

import asyncio
import os
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from coterie.runtime.doubles import Reply, ScriptedModel
from coterie.runtime.runners.swe_agent import SweAgentRunner
from coterie.schema import Agent, Task

from .conftest import Workbench, body_of, result_of

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="the stand-in's processes are Linux's"),
    pytest.mark.usefixtures("nothing_left"),
]

NOBODY: Any = None
SUBMIT = Reply.tool("submit")
REPAIR = Reply.bash("sed -i 's/a - b/a + b/' toy.py")


@pytest.fixture
def swe_agent(stand_in: Path, monkeypatch: pytest.MonkeyPatch) -> Agent:
    monkeypatch.setenv("MAS_SWE_AGENT_PYTHON", str(stand_in))
    return Agent(id="engineer", agent_type="SWEAgent", prompt="Be careful.")


def repair(repository: Path) -> Task:
    return Task(id="toy", query="add(2, 2) gives {{ 0 }}.", repo=repository)


def run(workbench: Workbench, model: ScriptedModel, agent: Agent, task: Task, **options: Any):
    return workbench.run(model, agent, task=task, unsafe=True, **options)


def test_its_patch_is_the_answer_and_its_calls_are_ours(
    workbench: Workbench, swe_agent: Agent, repository: Path
) -> None:
    with ScriptedModel([REPAIR, SUBMIT]) as model:
        done = run(workbench, model, swe_agent, repair(repository))
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
        done = workbench.run(model, *agents, task=repair(repository), unsafe=True, reports_to=edges)
    assert "+    return a + b\n+#" in str(done.answer)


def test_a_failing_model_call_fails_the_agent_at_once(
    workbench: Workbench, swe_agent: Agent, repository: Path
) -> None:
    with ScriptedModel(Reply.error(500)) as model:
        done = run(workbench, model, swe_agent, repair(repository))
        assert len(model.calls) == 1
    assert "HTTP 500" in str(done.error)


def test_its_steps_are_bounded(workbench: Workbench, swe_agent: Agent, repository: Path) -> None:
    agent = Agent(id="engineer", agent_type="SWEAgent", max_steps=2)
    with ScriptedModel(Reply.bash("true")) as model:
        done = run(workbench, model, agent, repair(repository))
        assert len(model.calls) == 2
    assert "it used its 2 steps without handing in its work" in str(done.error)


def test_submitting_without_a_change_is_a_failure(
    workbench: Workbench, swe_agent: Agent, repository: Path
) -> None:
    with ScriptedModel(SUBMIT) as model:
        done = run(workbench, model, swe_agent, repair(repository))
    assert "without having changed anything" in str(done.error)


def test_its_timeout_ends_it_with_all_that_it_started(
    workbench: Workbench, swe_agent: Agent, repository: Path
) -> None:
    agent = Agent(id="engineer", agent_type="SWEAgent", timeout=3)
    with ScriptedModel(Reply.bash("setsid sleep 100 & sleep 100")) as model:
        started = time.monotonic()
        done = run(workbench, model, agent, repair(repository))
        assert time.monotonic() - started < 5
        assert len(model.calls) == 1
    assert "it reached its timeout, 3 seconds of work." in str(done.error)


def test_two_of_them_take_turns(workbench: Workbench, swe_agent: Agent, repository: Path) -> None:
    agents = [Agent(id=name, agent_type="SWEAgent") for name in ("a", "b")]
    repair_slowly = REPAIR.replace(latency=0.2)
    with ScriptedModel([repair_slowly, SUBMIT, repair_slowly, SUBMIT]) as model:
        done = workbench.run(model, *agents, task=repair(repository), unsafe=True)
        assert model.peak == 1
    assert {outcome.status for outcome in done.agents.values()} == {"done"}


def test_without_the_hosts_consent_it_does_not_run(
    workbench: Workbench, swe_agent: Agent, repository: Path
) -> None:
    with ScriptedModel(SUBMIT) as model:
        done = workbench.run(model, swe_agent, task=repair(repository))
        assert model.calls == ()
    assert "--unsafe-local" in str(done.error)


def test_without_a_repository_it_does_not_run(workbench: Workbench, swe_agent: Agent) -> None:
    with ScriptedModel(SUBMIT) as model:
        done = run(workbench, model, swe_agent, Task(id="t", query="?"))
    assert "needs a task with a repo" in str(done.error)


@pytest.mark.parametrize(
    ("setup", "said"),
    [
        ("__version__ = '1.0.1'", "SWE-agent 1.0.1 is too old: 1.1 or later is needed"),
        ("assert False, 'no config folder'", "is not usable in"),
    ],
)
def test_an_unusable_installation_is_an_error_that_says_so(
    workbench: Workbench, swe_agent: Agent, repository: Path, setup: str, said: str
) -> None:
    stand_in = Path(os.environ["MAS_SWE_AGENT_PYTHON"])
    with (stand_in.parent / "sweagent" / "__init__.py").open("a", encoding="utf-8") as file:
        file.write(setup)
    with ScriptedModel(SUBMIT) as model:
        done = run(workbench, model, swe_agent, repair(repository))
    assert said in str(done.error)


@pytest.mark.parametrize("value", [None, "/nowhere/python"])
def test_a_missing_installation_is_objected_to_with_the_way_to_get_it(
    monkeypatch: pytest.MonkeyPatch, value: str | None
) -> None:
    monkeypatch.delenv("MAS_SWE_AGENT_PYTHON", raising=False)
    if value:
        monkeypatch.setenv("MAS_SWE_AGENT_PYTHON", value)
    (objection,) = SweAgentRunner.objections(Agent(id="a", agent_type="SWEAgent"))
    assert "set MAS_SWE_AGENT_PYTHON" in objection


def test_the_endpoint_serves_only_whoever_has_its_key() -> None:
    import aiohttp

    from coterie.runtime.runners._loopback import LoopbackEndpoint

    async def asked() -> list[int]:
        async with LoopbackEndpoint(NOBODY, calls=1) as endpoint, aiohttp.ClientSession() as client:
            statuses: list[int] = []
            for headers in ({}, {"Authorization": "Bearer wrong"}):
                async with client.post(
                    f"{endpoint.api_base}/chat/completions", headers=headers, json={"messages": []}
                ) as response:
                    statuses.append(response.status)
            return statuses

    assert asyncio.run(asked()) == [401, 401]
