"""A trial of an installed SWE-agent: a whole run in its jail, with scripted answers."""

from __future__ import annotations

import itertools
import json
import tempfile
from pathlib import Path
from typing import Any

from ....schema.team.task import Task
from ....schema.team.team import Agent
from ...agents.runner import AgentResult, Assignment, Runner
from ...gateway import ChatAnswer, ToolRequest
from ...jail import Jails
from ...record.once import unkept
from ...repository.git import git
from ...repository.workspace import Workspaces

# The first submission is answered with a review of the changes.
ANSWERS = (("bash", {"command": "echo tried > tried.txt"}), ("submit", {}), ("submit", {}))


class _Script:
    """A model client that returns the answers in turn, and then submits."""

    def __init__(self) -> None:
        self._answers = itertools.chain(ANSWERS, itertools.repeat(ANSWERS[-1]))

    async def chat(self, messages: Any, **_: Any) -> ChatAnswer:
        name, arguments = next(self._answers)
        call = ToolRequest(id=f"call_{len(messages)}", name=name, arguments=json.dumps(arguments))
        return ChatAnswer(text="", tool_calls=(call,))


async def try_swe_agent(runner: Runner) -> AgentResult:
    """Let SWE-agent create one file in a small repository; takes half a minute."""
    with tempfile.TemporaryDirectory(prefix="coterie-trial-") as folder:
        git(Path(folder), "init", "--quiet")
        git(Path(folder), "commit", "--quiet", "--allow-empty", "--message", "Nothing.")
        task = Task(id="trial", query="Write a file.", repo=Path(folder))
        with Workspaces(task) as workspaces:
            return await runner.run(
                Assignment(
                    agent=Agent(id="trial", agent_type="SWEAgent", max_steps=10),
                    system="You are tried.",
                    question=task.query,
                    task=task,
                    reports=(),
                    client=_Script(),
                    tools={},
                    workspace=workspaces.of("trial", 1, ()),
                    jails=Jails(),
                    emit=lambda _event, /, **_: None,
                    once=unkept,
                )
            )
