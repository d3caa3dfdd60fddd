"""Teams, models and runs against the scripted model server."""

import asyncio
import sys
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Mapping
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from coterie.runtime import (
    Budget,
    Caps,
    Context,
    Journal,
    Plan,
    Run,
    Trace,
    compile,
    execute,
    perform,
)
from coterie.runtime.doubles import ScriptedModel
from coterie.runtime.messages.recall import Recaller
from coterie.runtime.record.trace import Event
from coterie.runtime.rounds.rounds import NOBODY_SILENT, Ablation
from coterie.runtime.runners import AgentResult, Assignment
from coterie.schema import Agent, Catalogue, Execution, Model, Task, Team

from ..support.performing import performed

TASK = Task(id="apples", query="How many apples are left?")


SHARES = 40
"""Of all cases, which so can be run by several processes, and in repositories that stay small."""


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Have a test of many cases run in shares, where all of the cases are wanted."""
    if "shares" in metafunc.fixturenames:
        shares = SHARES if metafunc.config.getoption("--nightly") else 1
        metafunc.parametrize(("share", "shares"), [(share, shares) for share in range(shares)])


class Bench:
    """Runs teams on scripted models and keeps what happened."""

    def __init__(self) -> None:
        self.events: list[Event] = []

    def run(
        self,
        team: Team,
        model: ScriptedModel | None = None,
        *,
        task: Task = TASK,
        seed: int | None = None,
        folder: Path | None = None,
        silent: Ablation = NOBODY_SILENT,
        recaller: Recaller | None = None,
        **options: Any,
    ) -> Run:
        """Run a team to the end; every agent's model is the scripted one."""
        whole = partial(perform, silent=silent)
        with Journal.open(folder) if folder else nullcontext() as journal:
            calling = {"seed": seed, "journal": journal}
            return self._made(
                whole, team, model, task=task, calling=calling, options=options, recaller=recaller
            )

    def one_pass(
        self,
        team: Team,
        model: ScriptedModel,
        *,
        folder: Path | None = None,
        task: Task = TASK,
        dialogue: int = 0,
        agent_caps: Caps | None = None,
        budget: Budget | None = None,
        recaller: Recaller | None = None,
        **passing: Any,
    ) -> Run:
        """Have a team's agents work once, with the journal of a folder where there is one."""
        once = partial(execute, **passing)
        with Journal.open(folder) if folder else nullcontext() as journal:
            calling = {"journal": journal}
            return self._made(
                once,
                team,
                model,
                calling=calling,
                task=task,
                dialogue=dialogue,
                agent_caps=agent_caps,
                budget=budget,
                recaller=recaller,
            )

    def _made(
        self,
        how: Callable[[Plan, Task, Context], Coroutine[Any, Any, Run]],
        team: Team,
        model: ScriptedModel | None,
        *,
        calling: Mapping[str, Any],
        task: Task = TASK,
        options: Mapping[str, Any] | None = None,
        **context: Any,
    ) -> Run:
        base = model.api_base if model else "http://127.0.0.1:9/v1"
        options = options or {}
        models = {"default": Model(alias="default", model="scripted", api_base=base, **options)}
        plan = compile(team, Catalogue.of_host(models=models))
        trace = Trace(self.events.append)
        return asyncio.run(
            performed(plan, task, models, how=how, calling=calling, trace=trace, **context)
        )

    def of(self, event: str, agent: str | None = None) -> list[Event]:
        """The events of a type, of one agent or of all."""
        return [item for item in self.events if item.type == event and agent in {None, item.agent}]


UNUSED: Any = None
"""No agent of these tests writes code."""


Part = Callable[[Assignment], Awaitable[str | AgentResult]]


class Scripted:
    """A backend that does as it is told."""

    def __init__(self, part: Part) -> None:
        self._part = part

    @classmethod
    def objections(cls, agent: Agent) -> Iterator[str]:
        del agent
        yield from ()

    @classmethod
    def calls_at_most(cls, agent: Agent) -> int:
        del agent
        return 1

    @classmethod
    def needs_jail(cls, agent: Agent) -> bool:
        del agent
        return False

    async def run(self, assignment: Assignment) -> AgentResult:
        result = await self._part(assignment)
        return AgentResult(content=result) if isinstance(result, str) else result


@pytest.fixture
def bench() -> Bench:
    return Bench()


def llm(agent_id: str, **fields: Any) -> Agent:
    """An LLM agent whose prompt names it, so that scripts can tell agents apart."""
    return Agent(id=agent_id, prompt=f"You are [{agent_id}]. Answer.", **fields)


def team(
    *agents: Agent, edges: Mapping[str, tuple[str, ...]] | None = None, **execution: Any
) -> Team:
    """A team of these agents."""
    return Team(
        name="team",
        agents={agent.id: agent for agent in agents},
        reports_to=edges or {},
        execution=Execution(**execution),
    )


STAND_IN = Path(__file__).parent / "runners" / "swe_agent_stand_in.py"


@pytest.fixture
def stand_in(tmp_path: Path) -> Path:
    """The interpreter of an environment in which something like SWE-agent is installed."""
    home = tmp_path / "swe-agent"
    files = {
        "sweagent/__init__.py": "from pathlib import Path\n"
        "CONFIG_DIR = Path(__file__).parents[1] / 'config'\n",
        "sweagent/run/run_single.py": STAND_IN.read_text("utf-8"),
        "sweagent/agent/hooks/abstract.py": "class AbstractAgentHook: pass\n",
        "swerex/__init__.py": "",
        "litellm/__init__.py": "from types import SimpleNamespace as ModelResponse\n",
        "config/default.yaml": "agent:\n  type: default\n  history_processors:\n"
        "    - {type: cache_control}\n    - {type: last_n_observations}\n",
        "tools/registry/install.sh": "",
        ".env": "OPENAI_API_KEY=sk-of-the-person\n",
        "sweagent-1.1.0.dist-info/METADATA": "Name: sweagent\nVersion: 1.1.0\n",
        "swe_rex-1.4.0.dist-info/METADATA": "Name: swe-rex\nVersion: 1.4.0\n",
    }
    for name, text in files.items():
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_text(text, "utf-8")
    interpreter = home / "bin" / "python"
    interpreter.parent.mkdir()
    interpreter.write_text(f'#!/bin/sh\nPYTHONPATH={home} exec {sys.executable} "$@"\n', "utf-8")
    interpreter.chmod(0o755)
    return interpreter
