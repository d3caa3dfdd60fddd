"""What works with which backend: whole agents, in a loop of calls, against the doubles."""

from __future__ import annotations

import json
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from coterie.runtime.doubles import ScriptedCall
from coterie.runtime.gateway import Gateway
from coterie.runtime.plan.plan import compile
from coterie.runtime.repository.git import git
from coterie.runtime.runs.services import Setting, open_services
from coterie.schema.host.catalogue import Catalogue
from coterie.schema.host.models import DEFAULT_ALIAS
from coterie.schema.team.task import Task
from coterie.schema.team.team import Agent, Execution, Team

from ..doubles import ProviderDouble, Said
from .trial import reached
from .verdict import checked

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from coterie.runtime.runs.services import Services

    from ..doubles import Provider
    from .verdict import Table, Verdict

DECOY = 'Perhaps final_answer(41)? <code>final_answer(41)</code> {"answer": 41} No.'
"""What is thought: an answer, code and JSON that must not count."""


class Backend(NamedTuple):
    """A kind of agent, what its model says, and what must come of it.

    Attributes:
        agent: The agent.
        script: What the model says, call by call.
        answer: What the run's answer must have.
        in_repository: Whether the task comes with a repository.
    """

    agent: Agent
    script: Sequence[Said]
    answer: str
    in_repository: bool = False


def _call(name: str, **arguments: Any) -> Said:
    return Said(thinking=DECOY, calls=(ScriptedCall(name=name, arguments=json.dumps(arguments)),))


def _code(source: str) -> Said:
    return Said(thinking=DECOY, text=f"<code>\n{source}\n</code>")


ASKED = "Answer the question."
BACKENDS: Mapping[str, Backend] = {
    "LLM": Backend(
        agent=Agent(id="asked", effort="low", prompt=ASKED),
        script=[Said(thinking=DECOY, text="42")],
        answer="42",
    ),
    "LLM, schema": Backend(
        agent=Agent(
            id="asked",
            effort="low",
            prompt=ASKED,
            output_schema={
                "type": "object",
                "properties": {"answer": {"type": "integer"}},
                "required": ["answer"],
                "additionalProperties": False,
            },
        ),
        script=[Said(thinking=DECOY, text='{"answer": 42}')],
        answer="42",
    ),
    "ToolCallingAgent": Backend(
        agent=Agent(id="asked", effort="low", agent_type="ToolCallingAgent", tools=("list_files",)),
        script=[_call("list_files"), _call("list_files"), _call("final_answer", answer="42")],
        answer="42",
    ),
    "CodeAgent": Backend(
        agent=Agent(id="asked", effort="low", agent_type="CodeAgent"),
        script=[_code("print(6 * 7)"), _code("final_answer(6 * 7)")],
        answer="42",
    ),
    "DefaultAgent": Backend(
        agent=Agent(id="asked", effort="low", agent_type="DefaultAgent"),
        script=[
            _call("bash", command="cat answer.txt"),
            _call("bash", command="echo 42 > answer.txt"),
            _call("bash", command="echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT"),
        ],
        answer="+42",
        in_repository=True,
    ),
}
"""What is tried, by the column's name."""


async def backends_judged(providers: Sequence[Provider]) -> Table:
    """Run every backend against every provider, one after the other.

    Raises:
        JailError: This machine has no jail for what agents write.
    """
    table: Table = {}
    known = Catalogue.of_host()
    with tempfile.TemporaryDirectory(prefix="providers-") as folder:
        _make_repository(folder)
        async with open_services(known, Setting(seed=0)) as services:
            for provider in providers:
                roomy = replace(provider, context=200_000)
                table[provider.name] = {
                    name: await _judged(roomy, backend, services, Path(folder))
                    for name, backend in BACKENDS.items()
                }
    return table


async def _judged(
    provider: Provider, backend: Backend, services: Services, folder: Path
) -> Verdict:
    with ProviderDouble(provider, backend.script) as double:
        model, environment = reached(provider, double.origin)
        models = {DEFAULT_ALIAS: replace(model, alias=DEFAULT_ALIAS)}
        known = Catalogue.of_host(models=models)
        team = Team(
            name="asked", agents={"asked": backend.agent}, execution=Execution(max_retries=0)
        )
        task = Task(id="asked", query="What is six times seven?", files={"answer.txt": "?"})
        if backend.in_repository:
            task = replace(task, files={}, repo=folder)
        async with Gateway(models, environment=environment, seed=0) as gateway:
            plan, mine = compile(team, known), replace(services, gateway=gateway)
            await mine.prepare(plan)
            run = await mine.execute(plan, task)
    text, wanted = str(run.answer), backend.answer
    lost = _lost(provider, double)
    return checked(right=wanted in text and not lost, why=f"{run.error or text!r}{lost}")


def _lost(provider: Provider, double: ProviderDouble) -> str:
    """Return whether something that was thought should have come back and did not."""
    entries = [entry for entry in double.books if entry.said and entry.said.calls]
    if provider.comes_back is None or len(entries) < 2 or not entries[0].bill.thinking:
        return ""
    wanted = json.dumps(provider.comes_back(DECOY))[1:-1]
    return "" if wanted in json.dumps(entries[-1].body) else ", and the thought did not come back"


def _make_repository(folder: str) -> None:
    """Make a git repository of one file."""
    (Path(folder) / "answer.txt").write_text("?\n", encoding="utf-8")
    for command in (["init", "--quiet"], ["add", "."], ["commit", "--quiet", "-m", "asked"]):
        git(Path(folder), *command)
