"""An open roster of real smolagents members, asked over HTTP, killed at commits of its journal.

A scripted model answers by what it reads alone: whatever the order of the mail, the run comes to
the same answer.
"""

import asyncio
import os
import re
import signal
import warnings
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from coterie.runtime import Calls, Context, Gateway, Journal, Run, Toolbox, Trace, compile, perform
from coterie.runtime.doubles import Reply, ScriptedModel, message_text
from coterie.runtime.record.trace import Event
from coterie.schema import Agent, Catalogue, Execution, Model, Roster, Task, Team
from tests.support.failpoints import armed

TASK = Task(id="sum", query="What is 1 + 2 + 3?")
UNUSED: Any = None
FULL = "which is the most"
"""What an agent reads that wants to start one too many."""


def crew(**limits: Any) -> Team:
    """A lead and six others, all of them tool-calling agents of smolagents."""
    names = ("lead", *(f"worker_{number}" for number in range(1, 4)))
    names += tuple(f"checker_{number}" for number in range(1, 4))
    agents = {
        name: Agent(
            id=name,
            role=name,
            prompt=f"You are [{name}].",
            agent_type="ToolCallingAgent",
            max_steps=6,
        )
        for name in names
    }
    roster = Roster(lead="lead", **{"alive": 7, **limits})
    return Team(name="crew", agents=agents, execution=Execution(roster=roster))


def answer(request: Any) -> Reply:
    """Answer by what an agent has read: whatever the order of its mail, it comes to the same.

    Each worker has a value and has it checked; the lead waits until all three are right.
    """
    text = message_text(request)
    if all(tool["function"]["name"] != "list_pool" for tool in request["tools"]):
        return Reply.tool("final_answer", answer="what there is")
    agent, number = re.findall(r"You are \[([a-z]+)_?(\d?)\]", text)[0]
    match agent:
        case "lead":
            return _lead(text)
        case "worker":
            return _worker(text, number)
        case _:
            return Reply.tool("final_answer", answer="checked")


def _lead(text: str) -> Reply:
    if "It is handed in" in text:
        return Reply.tool("final_answer", answer="done")
    if all(f"{number} is right" in text for number in (1, 2, 3)):
        return Reply.tool("finalize", answer="6")
    started = text.count("starts when your turn has ended")
    if started < 3 and FULL not in text:
        return Reply.tool("start_agent", agent=f"worker_{started + 1}", text="your value, please")
    return Reply.tool("final_answer", answer="waiting")


def _worker(text: str, number: str) -> Reply:
    if "lead reads it when your turn has ended" in text:
        return Reply.tool("final_answer", answer="told")
    if "checked" in text:
        return Reply.tool("send", to="lead", text=f"{number} is right")
    if "starts when your turn has ended" not in text and FULL not in text:
        return Reply.tool("start_agent", agent=f"checker_{number}", text=f"check {number}")
    return Reply.tool("final_answer", answer=f"value {number}")


def run(
    folder: Path,
    model: ScriptedModel,
    *,
    replaying: bool = False,
    team: Team | None = None,
    events: list[Event] | None = None,
) -> Run:
    """Run the crew with the journal of a folder."""
    heard: list[Event] = [] if events is None else events
    return asyncio.run(_run(folder, model.api_base, replaying, heard, team or crew()))


async def _run(folder: Path, base: str, replaying: bool, events: list[Event], team: Team) -> Run:
    models = {"default": Model(alias="default", model="scripted", api_base=base)}
    plan = compile(team, Catalogue.of_host(models=models))
    with Journal.open(folder, replaying=replaying) as journal:
        async with Gateway(models, seed=0) as gateway, Toolbox() as toolbox:
            calls = Calls(gateway=gateway, journal=journal)
            trace = Trace(events.append)
            context = Context(calls=calls, jails=UNUSED, toolbox=toolbox, trace=trace)
            done = await perform(plan, TASK, context)
        assert not journal.divergences
        return done


def told(item: Run) -> dict[str, Any]:
    """What has to be alike in a replay."""
    ending = asdict(item.ending) if item.ending else None
    return {"answer": item.answer, "bus": [asdict(it) for it in item.bus], "ending": ending}


def killed(folder: Path, model: ScriptedModel, failpoint: str) -> bool:
    """Run in a child until a failpoint kills it; tells whether it did."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # newer Pythons warn of threads: those of the model
        child = os.fork()
    if child == 0:
        try:
            with armed(failpoint):
                run(folder, model)
        finally:
            os._exit(0)
    _, status = os.waitpid(child, 0)
    return os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL


def kill_and_resume(home: Path, step: int) -> Iterator[tuple[Run, bool]]:
    """Kill runs at every so many-th commit; resume each, and replay that.

    Yields:
        The resumed run, and whether the replay came to the same.
    """
    with ScriptedModel(answer) as model:
        counted, folder = home / "count", home / "clean"
        folder.mkdir()
        with armed(f"count:{counted}"):
            run(folder, model)
        names = counted.read_text().split()
        points = [(name, n + 1) for name in {*names} for n in range(names.count(name))]
        for number, (name, moment) in enumerate(sorted(points)[::step]):
            folder = _killed_at(home / str(number), model, name, moment)
            resumed = run(folder, model)
            yield resumed, told(run(folder, model, replaying=True)) == told(resumed)


def _killed_at(home: Path, model: ScriptedModel, name: str, moment: int) -> Path:
    """Kill a run at a commit; where it comes to fewer, another run at an earlier one.

    How many there are depends on timing, as what is put in one turn is committed together.

    Returns:
        The folder of the run that was killed.
    """
    while True:
        folder = home / str(moment)
        folder.mkdir(parents=True)
        if killed(folder, model, f"{name}:{moment}:kill"):
            return folder
        assert moment > 1, f"no run comes to {name}"
        moment = moment * 3 // 4 or 1
