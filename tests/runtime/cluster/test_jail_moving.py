"""A worker is lost: the agent goes on elsewhere, and nothing is paid or done twice."""

from __future__ import annotations

import asyncio
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from coterie.benchmarks.repair.benchmark import repair_task
from coterie.runtime import (
    Budget,
    Calls,
    Caps,
    Context,
    Gateway,
    Journal,
    Run,
    Toolbox,
    Trace,
    compile,
    perform,
)
from coterie.runtime.doubles import Reply, ScriptedModel
from coterie.runtime.jail import Jails
from coterie.runtime.jail.jails import MOST_MOVES
from coterie.runtime.scoring.scorers import Evidence, score
from coterie.runtime.showing.saying import event_text
from coterie.schema import Catalogue, HostTools, JailError, Model, ScorerChoice, Task, parse_team
from coterie.schema.host.python_tool import python_tool

from ...repairs import RIGHT, needs_jail, small_repository
from .links import NearFleet, near, require_places

MODEL_CALLS = 6
TEAM = """\
name: mixed
agents:
  coder: {agent_type: CodeAgent, prompt: "You are [coder].", tools: [note, read_file]}
  engineer: {agent_type: DefaultAgent, prompt: "You are [engineer]."}
topology: {reports_to: {coder: [engineer]}}
"""
SCRIPT = {
    "You are [coder]": [
        Reply.code("open('made', 'w').write('made here')\nprint(note('once'))"),
        Reply.code("print(read_file('made'))\nprint(open('doubling.py').read()[:10])"),
        Reply.code("final_answer(open('made').read())"),
    ],
    "You are [engineer]": [
        Reply.tool("bash", command=f"git apply - <<'END'\n{RIGHT}END"),
        Reply.tool("bash", command="python3 -c 'import doubling; print(doubling.double(3))'"),
        Reply.tool("bash", command="echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT"),
    ],
}


@dataclass(kw_only=True)
class Lab:
    """A small repository that two agents with code work on.

    Attributes:
        task: Without its reference answer: a verdict takes longer than all of the run.
        scored: With it.
    """

    folder: Path
    task: Task
    scored: Task
    noted: list[str] = field(default_factory=list[str])
    runs: int = 0

    def run(self, jails: Jails, *, journaled: bool = True, calls: int = MODEL_CALLS) -> Made:
        """Make the run, with as many calls as it needs and not one more."""
        self.noted.clear()
        self.runs += 1
        with ScriptedModel(SCRIPT) as model:
            events: list[Any] = []
            run = asyncio.run(self._run(model.api_base, jails, events, journaled, calls))
            return Made(run=run, asked=len(model.calls), events=events, noted=[*self.noted])

    async def _run(
        self, api_base: str, jails: Jails, events: list[Any], journaled: bool, calls: int
    ) -> Run:
        def note(text: str) -> str:
            """Note a text."""
            self.noted.append(text)
            return f"noted {len(self.noted)}"

        models = {"default": Model(alias="default", model="scripted", api_base=api_base)}
        tools = {"note": python_tool(note)}
        known = Catalogue.of_host(models=models).having(HostTools(python=tools))
        plan = compile(parse_team(TEAM.encode(), "team.yaml", known), known)
        with ExitStack() as stack:
            journal = None
            if journaled:
                place = self.folder / f"run-{self.runs}"
                place.mkdir()
                journal = stack.enter_context(Journal.open(place))
            async with Gateway(models) as gateway, Toolbox({}, tools) as toolbox:
                context = Context(
                    calls=Calls(gateway=gateway, journal=journal),
                    jails=jails,
                    toolbox=toolbox,
                    trace=Trace(events.append),
                    budget=Budget(Caps(calls=calls)),
                )
                await toolbox.prepare(plan.tools)
                return await perform(plan, self.task, context)


@dataclass(frozen=True, kw_only=True)
class Made:
    run: Run
    asked: int
    events: list[Any]
    noted: list[str]

    @property
    def moves(self) -> int:
        return sum(event.type == "agent_moved" for event in self.events)

    def came(self) -> Any:
        """What has to be equal wherever the code ran, and whatever became of the workers."""
        run = self.run
        agents = {
            name: (
                agent.status,
                agent.error,
                agent.result and (agent.result.content, agent.result.patch),
                agent.usage,
                agent.attempts,
                agent.tool_calls,
                agent.mishaps,
            )
            for name, agent in run.agents.items()
        }
        return run.status, run.answer, run.error, run.usage, agents, self.asked, self.noted


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    require_places()
    instance = small_repository(tmp_path / "doubling")
    task = repair_task(instance, tmp_path / "doubling", "small")
    return Lab(folder=tmp_path, task=replace(task, answer=None), scored=task)


def lost_at(fleet: NearFleet, number: int) -> list[int]:
    """Have the worker lost that is asked the N-th question; count those that are asked."""
    counted = [0]
    for link in fleet.links:
        ask = link.ask

        def asked(method: str, *a: Any, _ask: Any = ask, _link: Any = link, **named: Any) -> Any:
            counted[0] += 1
            if counted[0] == number:
                _link.die()
            return _ask(method, *a, **named)

        link.ask = asked  # type: ignore[method-assign]
    return counted


@needs_jail
def test_a_lost_worker_leaves_the_result_of_this_machine(lab: Lab, nightly: bool) -> None:
    here = lab.run(Jails())
    assert (here.run.status, here.asked) == ("done", MODEL_CALLS)
    with near() as (jails, fleet):
        counted = lost_at(fleet, 0)
        assert lab.run(jails).came() == here.came()
        assert not fleet.lost
    moved = 0
    for number in range(1, counted[0] + 1, 1 if nightly else 17):
        with near() as (jails, fleet):
            lost_at(fleet, number)
            result = lab.run(jails)
            assert result.came() == here.came(), f"lost at question {number} of {counted[0]}"
            moved += result.moves
    assert moved


@needs_jail
@pytest.mark.parametrize("journaled", [True, False])
def test_no_tool_answers_that_the_worker_is_lost(lab: Lab, journaled: bool) -> None:
    here = lab.run(Jails())
    with near() as (jails, fleet):
        for link in fleet.links:
            link.dies_at = ("refresh", 1)  # which `read_file` asks for; both of them
        result = lab.run(jails, journaled=journaled)
    assert result.moves == 2
    assert result.came() == here.came()


@needs_jail
def test_without_a_journal_nothing_is_paid_twice_either(lab: Lab) -> None:
    here = lab.run(Jails(), journaled=False)
    with near() as (jails, fleet):
        for link in fleet.links:
            link.dies_at = ("start", 2)
        result = lab.run(jails, journaled=False)
        assert result.moves
        (report, *_) = [event for event in result.events if event.type == "agent_moved"]
        assert event_text(report.type, report.fields).startswith(
            "restarts on another host: The worker"
        )
        assert result.came() == here.came()


def all_die_at_a_start(fleet: Any) -> None:
    """Lose the worker at its first start, and so each that takes its place."""
    lose = fleet.lose

    def lost(link: Any) -> None:
        lose(link)
        for item in fleet.links:
            item.dies_at = ("start", 1)

    fleet.links[0].dies_at = ("start", 1)
    fleet.lose = lost


@needs_jail
def test_what_loses_every_machine_is_a_failure_of_the_host(lab: Lab) -> None:
    with near(1) as (jails, fleet):
        all_die_at_a_start(fleet)
        result = lab.run(jails)
        assert result.run.status == "failed"
        assert result.run.agents["coder"].fault == "jail"
        assert "The worker with the jail is lost" in str(result.run.agents["coder"].error)
        assert result.moves == MOST_MOVES
        assert result.asked == 1
        assert len(fleet.lost) == 1 + MOST_MOVES


@needs_jail
def test_where_no_worker_is_left_it_is_said(lab: Lab) -> None:
    with near(1, most=1) as (jails, fleet):
        fleet.links[0].dies_at = ("open", 1)
        result = lab.run(jails)
        assert result.run.agents["coder"].fault == "jail"
        assert "no worker is left" in str(result.run.error)


@needs_jail
def test_a_verdict_is_given_elsewhere_at_most_so_often(lab: Lab) -> None:
    with near(1) as (jails, fleet):
        fleet.links[0].dies_at = ("start", 3)
        evidence = Evidence(task=lab.scored, answer=RIGHT, jails=jails)
        result = asyncio.run(score(evidence))
        assert result is not None
        assert result.value == 1
        assert len(fleet.lost) == 1
    with near(1) as (jails, fleet):
        all_die_at_a_start(fleet)
        with pytest.raises(JailError, match="is lost"):
            asyncio.run(score(Evidence(task=lab.scored, answer=RIGHT, jails=jails)))
        assert len(fleet.lost) == 1 + MOST_MOVES


HUMANEVAL = Task(
    id="h",
    query="Add.",
    answer={
        "prompt": 'def add(a, b):\n    """Add."""\n',
        "entry_point": "add",
        "test": "def check(candidate):\n    assert candidate(1, 2) == 3\n",
    },
    scorer=ScorerChoice(name="humaneval"),
)


@needs_jail
@pytest.mark.parametrize("method", ["open", "start", "news", "write"])
def test_verdicts_in_two_jails_survive_the_loss_of_one(method: str) -> None:
    for number in (1, 2):
        with near() as (jails, fleet):
            fleet.links[0].dies_at = (method, number)
            for answer, value in (("    return a + b", 1), ("    return a - b", 0)):
                result = asyncio.run(score(Evidence(task=HUMANEVAL, answer=answer, jails=jails)))
                assert result is not None
                assert result.value == value
            assert fleet.lost
