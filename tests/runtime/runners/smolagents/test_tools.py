"""The bounds on the tools that one step of a CodeAgent calls: their time, and their number."""

import asyncio
from dataclasses import replace
from itertools import count
from types import SimpleNamespace
from typing import Any

import pytest

from coterie.runtime.doubles import Reply, ScriptedModel
from coterie.runtime.gateway import ChatAnswer
from coterie.runtime.repository.workspace import Workspaces
from coterie.runtime.runners.smolagents.runner import SmolagentsRunner
from coterie.runtime.tools.approval import Approvals
from coterie.schema import Agent, AgentError, Task

from ....jails import needs_jail
from ..conftest import SHOUT, Line, Workbench, assignment, observed

pytestmark = [needs_jail, pytest.mark.usefixtures("nothing_left")]

CODER = Agent(id="coder", agent_type="CodeAgent", tools=("megaphone.shout",), max_steps=1)
SHOUT_TWICE = """
<code>
first, second = megaphone_shout(text='a'), megaphone_shout(text='b')
final_answer(first + second)
</code>
"""


def test_a_step_has_a_limit_of_calls(workbench: Workbench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("coterie.runtime.jail.code.smol_executor.MOST_CALLS", 5)
    script = [
        Reply.code("while True: megaphone_shout(text='a')"),
        Reply.code("final_answer(megaphone_shout(text='b'))"),
    ]
    with ScriptedModel(script) as model:
        run = workbench.run(model, replace(CODER, max_steps=2))
        refusal = "megaphone_shout was not called: one step may call tools 5 times."
        assert refusal in observed(model, 1)
    assert run.answer == "B"
    assert len(workbench.of("tool_call")) == 6


def answered(monkeypatch: pytest.MonkeyPatch, wait: int) -> str:
    """Have a step call two tools, for each of which a person takes so many seconds."""
    clock = count(0, wait)
    now = SimpleNamespace(monotonic=lambda: next(clock))
    monkeypatch.setattr("coterie.runtime.runners.smolagents._tools.time", now)

    async def approve(*_: Any) -> bool:
        return True

    async def work() -> str:
        line = Line(lambda _messages, _tools: ChatAnswer(text=SHOUT_TWICE))
        with Workspaces(Task(id="task", query="Shout.")) as home:
            given = assignment(CODER, line, home, tools=(SHOUT,))
            approvals = Approvals({SHOUT.name: "ask"}, approve)
            tools = {
                name: replace(granted, approvals=approvals) for name, granted in given.tools.items()
            }
            return (await SmolagentsRunner().run(replace(given, tools=tools))).content

    return asyncio.run(work())


def test_a_step_has_the_time_that_it_waited_for_a_person(monkeypatch: pytest.MonkeyPatch) -> None:
    """Shown by a wait of less than nothing, which leaves no time: no test waits that long."""
    assert answered(monkeypatch, 1000) == "AB"
    with pytest.raises(AgentError):
        answered(monkeypatch, -1000)
