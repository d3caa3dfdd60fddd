"""Open rosters whose agents do as they are told, and what must hold of any run of them."""

import asyncio
import json
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from coterie.runtime import (
    Budget,
    Calls,
    Context,
    Gateway,
    Plan,
    Run,
    Toolbox,
    Trace,
    compile,
    perform,
)
from coterie.runtime.agents import posted
from coterie.runtime.agents.acts import Act, Finalize, Send, Start, Stop, Terminate
from coterie.runtime.gateway import CallError, ChatAnswer, ChatRequest, Usage
from coterie.runtime.record.journal import Journal, digest
from coterie.runtime.record.trace import Event
from coterie.runtime.runners import Assignment
from coterie.schema import Agent, AgentError, Catalogue, Execution, Model, Roster, Task, Team
from coterie.schema.values.codec import from_value

from ..virtual_time import run_virtually
from .conftest import Scripted

TASK = Task(id="sum", query="What is the sum?")
KNOWN = Catalogue.of_host(models={"default": Model(alias="default", model="openai/m")})
UNUSED: Any = None
TOOLS: Mapping[type[Any], str] = {
    Send: "send",
    Start: "start_agent",
    Stop: "stop_agent",
    Finalize: "finalize",
    Terminate: "terminate",
}


@dataclass(frozen=True)
class Does:
    """What an agent does in a turn.

    Attributes:
        acts: What it does to its team.
        says: What the turn comes to.
        delay: How often others come first while it works.
        hangs: Whether it works for ever.
        fails: Whether the turn fails.
    """

    acts: Sequence[Act] = ()
    says: str = ""
    delay: int = 0
    hangs: bool = False
    fails: bool = False

    def text(self) -> str:
        did = [[TOOLS[type(act)], _fields(act)] for act in self.acts]
        return json.dumps({"did": did, "says": self.says, "fails": self.fails})


def _fields(act: Act) -> dict[str, str]:
    return {name: getattr(act, name) for name in act.__slots__}


def to(agent: str, text: str = "hi") -> Send:
    return Send(to=agent, text=text)


def start(agent: str, text: str = "go") -> Start:
    return Start(agent=agent, text=text)


Mind = Callable[[str, str, str], Does]
"""What an agent does: its id, what it reads now, and all that it has read before and now."""


@dataclass
class Minds:
    """Stands for the gateway: answers for each agent by its mind."""

    mind: Mind
    calls: int = 0
    models: Mapping[str, Model] = field(default_factory=lambda: KNOWN.models)

    async def chat(
        self, request: ChatRequest, *_: Any, budget: Budget | None = None, **__: Any
    ) -> ChatAnswer:
        claim = await (budget or Budget()).reserve(tokens=9 + (request.max_tokens or 3), usd=None)
        try:
            answer = await self._answer(request)
        except BaseException:
            claim.release()
            raise
        claim.settle(answer.usage)
        return answer

    async def _answer(self, request: ChatRequest) -> ChatAnswer:
        texts = [str(message["content"]) for message in request.messages]
        agent = texts[0].partition("[")[2].partition("]")[0]
        does = self.mind(agent, texts[-1], "\n".join(texts[1:]))
        for _turn in range(does.delay):
            await asyncio.sleep(0)
        if does.hangs:
            await asyncio.Event().wait()
        if does.says == "out of order":
            raise CallError("out of order", kind="down")
        self.calls += 1
        usage = Usage(calls=1, prompt_tokens=9, completion_tokens=3)
        return ChatAnswer(text=does.text(), usage=usage)


async def acting(assignment: Assignment) -> str:
    """Ask once and do what is answered, with the agent's tools."""
    question = [
        {"role": "system", "content": assignment.system},
        {"role": "user", "content": assignment.question},
    ]
    report = json.loads((await assignment.client.chat(question)).text)
    for tool, arguments in report["did"]:
        assignment.emit("tool_call", tool=tool, arguments=arguments, result="done")
    if report["fails"]:
        raise AgentError("it is lost.")
    return report["says"]


def crew(*others: str, on_error: Any = "fail", timeout: float = 600, **limits: Any) -> Team:
    """A team that `lead` leads."""
    names = ("lead", *others)
    return Team(
        name="crew",
        agents={
            name: Agent(id=name, role=f"the {name}", prompt=f"You are [{name}].") for name in names
        },
        execution=Execution(
            roster=Roster(lead="lead", **limits),
            on_error=on_error,
            timeout=timeout,
            max_retries=0,
        ),
    )


def plan_of(team: Team) -> Plan:
    """Compile a team; its agents do as they are told."""
    plan = compile(team, KNOWN)
    runner: Any = Scripted(acting)
    agents = {name: replace(agent, runner=runner) for name, agent in plan.agents.items()}
    return replace(plan, agents=agents)


async def play(
    plan: Plan, minds: Any, *, journal: Journal | None = None, events: list[Event] | None = None,
    task: Task = TASK, **context: Any,
) -> Run:  # fmt: skip
    """Run a plan on minds."""
    gateway: Gateway = minds
    async with Toolbox() as toolbox:
        host = Context(
            calls=Calls(gateway=gateway, journal=journal, seed=1),
            jails=UNUSED,
            toolbox=toolbox,
            trace=Trace(*([events.append] if events is not None else [])),
            **context,
        )
        return await perform(plan, task, host)


def played(
    team: Team, mind: Mind, *, folder: Path | None = None, replaying: bool = False, **others: Any
) -> Run:
    """Run a team on a mind to its end, with the journal of a folder where there is one.

    Without one, time is virtual.
    """
    opened = Journal.open(folder, replaying=replaying) if folder else nullcontext()
    with opened as journal:
        run_to_its_end = asyncio.run if folder else run_virtually
        run = run_to_its_end(play(plan_of(team), Minds(mind), journal=journal, **others))
        assert journal is None or not journal.divergences
    return run


def scripted(**turns: Sequence[Does]) -> Mind:
    """Have each agent do one thing after the other, and the last thing again and again.

    Which turn it is shows in how often its question was asked in the conversation.
    """

    def mind(agent: str, now: str, ever: str) -> Does:
        number = ever.count('"did"')
        return turns[agent][min(number, len(turns[agent]) - 1)]

    return mind


def logged(journal: Journal, path: str = "") -> Iterator[Any]:
    """What happened, as a journal holds it."""
    number = 1
    while (entry := journal.entry(f"{path}bus/{number:06d}", digest("bus"))) is not None:
        yield from_value(posted.Event, entry.value)
        number += 1


def obeys(team: Team, run: Run, events: Sequence[Event]) -> None:
    """Make sure that a run kept to what holds of all: order, mailboxes, turns and limits."""
    roster = team.execution.roster
    assert roster is not None
    assert run.ending is not None
    assert [item.number for item in run.bus] == [*range(1, len(run.bus) + 1)]
    assert run.ending.sent <= roster.messages
    _one_turn_at_a_time(events, roster)
    _mail_once_and_in_order(run, events)


def _one_turn_at_a_time(events: Sequence[Event], roster: Roster) -> None:
    at_work: set[str] = set()
    active = {roster.lead}
    turns: defaultdict[str, int] = defaultdict(int)
    for event in events:
        agent = event.agent or ""
        match event.type:
            case "agent_joined":
                active.add(agent)
                assert len(active) <= roster.alive
            case "agent_left":
                active.remove(agent)
            case "mail_taken":
                turns[agent] += 1
                assert event.fields["turn"] == turns[agent]
            case "agent_started":
                assert agent in active
                assert agent not in at_work
                at_work.add(agent)
            case "agent_finished":
                at_work.remove(agent)
            case _:
                pass
    assert not at_work
    assert all(count <= roster.turns + (name == roster.lead) for name, count in turns.items())


def _mail_once_and_in_order(run: Run, events: Sequence[Event]) -> None:
    posted = {item.number: item for item in run.bus}
    seen, waiting = {1}, defaultdict[str, set[int]](set)
    waiting[posted[1].to].add(1)
    taken: dict[str, list[int]] = {}
    for event in events:
        match event.type:
            case "message_posted":
                entry = posted[event.fields["number"]]
                assert entry.number == len(seen) + 1
                seen.add(entry.number)
                if entry.kind in {"message", "start", "answer", "failed", "refused"}:
                    waiting[entry.to].add(entry.number)
            case "mail_taken":
                numbers = [message["number"] for message in event.fields["messages"]]
                assert event.agent is not None
                assert numbers == sorted(numbers)
                assert {*numbers} == waiting[event.agent]  # all that waits, and nothing twice
                waiting[event.agent] = set()
                taken[event.agent] = numbers
            case "mail_returned":
                assert event.fields["messages"] == taken.pop(event.agent or "")
                waiting[event.agent or ""] |= {*event.fields["messages"]}
            case _:
                pass
    assert {*posted} == seen
    left = [posted[number] for numbers in waiting.values() for number in numbers]
    assert run.ending is not None
    assert sum(item.kind in {"message", "start", "answer"} for item in left) == run.ending.unread
