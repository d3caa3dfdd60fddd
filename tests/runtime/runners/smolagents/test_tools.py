"""The bounds on the tools that one step of a CodeAgent calls: their time, and their number."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from coterie.runtime.doubles import Reply, ScriptedModel
from coterie.runtime.gateway import ChatAnswer
from coterie.runtime.jail import JailLimits, Jails
from coterie.runtime.repository.workspace import Workspaces
from coterie.runtime.runners.smolagents.runner import SmolagentsRunner
from coterie.runtime.tools.approval import Approvals
from coterie.schema import Agent, Task

from ..conftest import SHOUT, Line, Workbench, assignment, needs_jail, observed

pytestmark = [needs_jail, pytest.mark.usefixtures("nothing_left")]

CODER = Agent(id="coder", agent_type="CodeAgent", tools=("megaphone.shout",), max_steps=1)
SHOUT_TWICE = """
<code>
first, second = megaphone_shout(text='a'), megaphone_shout(text='b')
final_answer(first + second)
</code>
"""


class QuickJails(Jails):
    """Jails in which a step may take a second."""

    def open(self, work: Path, **options: Any) -> Any:
        return super().open(work, limits=JailLimits(wall=1.0), **options)


def test_a_step_calls_tools_a_limited_number_of_times(
    workbench: Workbench, monkeypatch: pytest.MonkeyPatch
) -> None:
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


def test_what_a_step_waits_for_a_person_is_not_its_time() -> None:
    async def approve(*_: Any) -> bool:
        await asyncio.sleep(1.1)
        return True

    async def answered() -> str:
        line = Line(lambda _messages, _tools: ChatAnswer(text=SHOUT_TWICE))
        with Workspaces(Task(id="task", query="Shout.")) as home:
            given = assignment(CODER, line, home, jails=QuickJails(), tools=(SHOUT,))
            approvals = Approvals({SHOUT.name: "ask"}, approve)
            tools = {
                name: replace(granted, approvals=approvals) for name, granted in given.tools.items()
            }
            return (await SmolagentsRunner().run(replace(given, tools=tools))).content

    assert asyncio.run(answered()) == "AB"
