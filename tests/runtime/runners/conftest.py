"""Agents that write code: runs with real jails, assignments, and a look at what is left after."""

import asyncio
import os
import shutil
import subprocess
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from coterie.runtime import Journal, Run, Trace, compile
from coterie.runtime.doubles import ScriptedModel
from coterie.runtime.gateway import ChatAnswer
from coterie.runtime.jail import Jails
from coterie.runtime.record.once import unkept
from coterie.runtime.record.trace import Event
from coterie.runtime.repository.changes import RepositoryChange
from coterie.runtime.repository.workspace import Workspaces
from coterie.runtime.runners import AgentResult, Assignment
from coterie.runtime.tools import GrantedTool, Tool, ToolError
from coterie.schema import Agent, Catalogue, Execution, Model, Task, Team

from ...support.performing import performed
from ...waiting import wait_for

TASK = Task(id="apples", query="How many apples are left?")


async def _shout(arguments: Mapping[str, Any], workspace: Any) -> Any:
    del workspace
    if arguments["text"] == "rude":
        raise ToolError("that is rude; say something else.")
    if arguments["text"] == "bug":
        raise RuntimeError("a bug in the tool")
    return arguments["text"].upper() * arguments.get("times", 1)


SHOUT = Tool(
    name="megaphone.shout",
    description="Says it louder.",
    parameters={
        "type": "object",
        "properties": {
            "text": {"type": "string", "description": "What to say."},
            "times": {"type": "integer", "minimum": 1},
        },
        "required": ["text"],
        "additionalProperties": False,
    },
    run=_shout,
)


class Workbench:
    """Runs teams of agents that write code, and keeps what happened."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self.tools = [SHOUT]

    def run(self, model: ScriptedModel, *agents: Agent, **options: Any) -> Run:
        """Run agents of a team without edges, in a loop of its own; see `started`."""
        return asyncio.run(self.started(model, *agents, **options))

    async def started(
        self,
        model: ScriptedModel,
        *agents: Agent,
        task: Task = TASK,
        reports_to: Mapping[str, tuple[str, ...]] | None = None,
        unsafe: bool = False,
        max_retries: int = 0,
        journal: Journal | None = None,
    ) -> Run:
        """Run a team, with `self.tools` as the tools that it may grant."""
        models = {"default": Model(alias="default", model="scripted", api_base=model.api_base)}
        plan = compile(
            Team(
                name="team",
                agents={agent.id: agent for agent in agents},
                reports_to=reports_to or {},
                execution=Execution(max_retries=max_retries),
            ),
            Catalogue.of_host(models=models),
        )
        return await performed(
            plan,
            task,
            models,
            calling={"journal": journal},
            tools=self.tools,
            jails=Jails(unsafe=unsafe),
            trace=Trace(self.events.append),
        )

    def out_of_time(
        self, model: ScriptedModel, agent: Agent, at_work: Callable[[], object], **options: Any
    ) -> Run:
        """Run an agent whose minute is over as soon as something is at work."""

        async def scene() -> Run:
            loop = asyncio.get_running_loop()
            clock = loop.time
            running = asyncio.create_task(
                self.started(model, replace(agent, timeout=60), **options)
            )
            await asyncio.to_thread(wait_for, at_work, "nothing is at work")
            loop.time = lambda: clock() + 60
            return await running

        return asyncio.run(scene())

    def of(self, event: str) -> list[Event]:
        """The events of a type."""
        return [item for item in self.events if item.type == event]


@pytest.fixture
def workbench() -> Workbench:
    return Workbench()


class Line:
    """A model line that answers by a function of messages and tools, and remembers.

    Args:
        answer: The function.
        hangs: Never answer.
        together: Before the first answer, all of so many lines are asked.
    """

    def __init__(
        self,
        answer: Callable[[list[Any], list[Any]], ChatAnswer],
        *,
        hangs: bool = False,
        together: asyncio.Barrier | None = None,
    ) -> None:
        self.seen: list[list[Any]] = []
        self.asked = asyncio.Event()
        self._answer = answer
        self._hangs = hangs
        self._together = together

    @property
    def calls(self) -> int:
        """How often it was asked."""
        return len(self.seen)

    async def chat(self, messages: Any, *, tools: Any = (), **_: Any) -> ChatAnswer:
        """Answer, a moment later."""
        self.seen.append(list(messages))
        self.asked.set()
        if self._hangs:
            await asyncio.Event().wait()
        if self._together and self.calls == 1:
            await self._together.wait()
        await asyncio.sleep(0)
        return self._answer(list(messages), list(tools))


def assignment(
    agent: Agent,
    line: Any,
    home: Workspaces,
    *,
    jails: Any = None,
    question: str = "How many apples are left?",
    tools: tuple[Tool, ...] = (),
    start: Sequence[RepositoryChange] = (),
) -> Assignment:
    """An attempt of an agent, without a run around it."""
    workspace = home.of(f"{agent.id}-{id(line)}", 1, start)

    def emit(event: str, /, **fields: Any) -> None:
        del event, fields

    return Assignment(
        agent=agent,
        system="You work alone.",
        question=question,
        task=home.task,
        reports=(),
        client=line,
        tools={tool.name: GrantedTool(tool=tool, workspace=workspace, emit=emit) for tool in tools},
        workspace=workspace,
        jails=jails or Jails(),
        emit=emit,
        once=unkept,
    )


def body_of(model: ScriptedModel, call: int) -> dict[str, Any]:
    """What a call sent."""
    body = model.calls[call].body
    assert body is not None
    return body


def observed(model: ScriptedModel, call: int) -> str:
    """What the last message of a call told the model."""
    return body_of(model, call)["messages"][-1]["content"]


def result_of(run: Run, agent_id: str) -> AgentResult:
    """What an agent came to."""
    outcome = run.agents[agent_id]
    assert outcome.result is not None, outcome.error
    return outcome.result


def shell(commands: str, folder: Path) -> str:
    """Run commands on the host, as somebody who may commit."""
    person = {"GIT_AUTHOR_NAME": "t", "GIT_AUTHOR_EMAIL": "t@localhost"}
    person |= {"GIT_COMMITTER_NAME": "t", "GIT_COMMITTER_EMAIL": "t@localhost"}
    return subprocess.run(
        ["/bin/sh", "-c", commands],
        cwd=folder,
        env=os.environ | person,
        check=True,
        capture_output=True,
        text=True,
    ).stdout


def descendants() -> set[int]:
    """The processes that descend from this one."""
    numbers: set[int] = set()
    waiting = [str(thread) for thread in Path("/proc/self/task").iterdir()]
    while waiting:
        try:
            children = Path(waiting.pop(), "children").read_text("ascii").split()
        except OSError:
            continue
        numbers |= {int(child) for child in children}
        waiting += [f"/proc/{child}/task/{child}" for child in children]
    return numbers


@pytest.fixture
def nothing_left() -> Iterator[None]:
    """A test after which every thread and process that it started has ended."""
    threads, processes = set(threading.enumerate()), descendants()
    yield
    assert set(threading.enumerate()) - threads == set()
    assert descendants() - processes == set()


@pytest.fixture
def repository(toy: Path, tmp_path: Path) -> Path:
    """A git working copy of the test's own with a wrong sum and a test that shows it."""
    return Path(shutil.copytree(toy, tmp_path / "toy"))


@pytest.fixture(scope="session")
def toy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What each test's repository is a copy of."""
    folder = tmp_path_factory.mktemp("toy")
    (folder / "toy.py").write_text("def add(a, b):\n    return a - b\n", "utf-8")
    (folder / "test_toy.py").write_text(
        "from toy import add\n\n\ndef test_add():\n    assert add(2, 2) == 4\n", "utf-8"
    )
    shell("git init --quiet --template= && git add . && git commit --quiet --message toy", folder)
    return folder
