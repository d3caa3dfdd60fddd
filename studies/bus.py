"""Measures what messages of an open roster cost by themselves, with no model waited for.

    python -m studies.bus

First the bus and its mailboxes alone; then whole runs with a journal on disk, whose agents write to
each other until as many messages were sent as may be, asked by a model that answers at once.
"""

from __future__ import annotations

import asyncio
import json
import time
import tracemalloc
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import click

from coterie.runtime import Calls, Context, Journal, Toolbox, compile, perform
from coterie.runtime.agents.acts import Send, Start
from coterie.runtime.agents.posted import TurnDone
from coterie.runtime.gateway import ChatAnswer, Usage
from coterie.runtime.roster.bus import Bus
from coterie.runtime.roster.outgoing import outgoing
from coterie.schema.command import Command
from coterie.schema.host.catalogue import Catalogue
from coterie.schema.host.models import Model
from coterie.schema.team.task import Task
from coterie.schema.team.team import Agent, Execution, Roster, Team

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from coterie.runtime import Gateway, Run
    from coterie.runtime.gateway import ChatRequest

TEXT = "What came of it is told here, in as many words as colleagues write to each other. " * 4
MODELS = {"default": Model(alias="default", model="openai/none")}
UNUSED: Any = None
MEGABYTE = 1e6
HEAD = ("messages", "bus: CPU ms each", "turns", "run: CPU ms a turn", "peak MB", "journal MB")


def names_of(agents: int) -> Sequence[str]:
    """Name some agents; the first one leads."""
    return [f"a{number}" for number in range(agents)]


def alone(agents: int, messages: int) -> float:
    """Let agents take mail and write to the next one until so many messages were sent.

    Returns:
        Milliseconds of the processor per message.
    """
    names = names_of(agents)
    roster = Roster(lead=names[0], alive=agents, messages=messages, turns=messages)
    bus = Bus(candidates=tuple(names), roster=roster)
    started = time.process_time()
    _turn(bus, names[0], [Start(agent=name, text=TEXT) for name in names[1:]])
    while bus.sent < messages - agents:
        for agent in bus.due:
            following = names[(names.index(agent) + 1) % agents]
            _turn(bus, agent, [Send(to=following, text=TEXT)])
    return 1e3 * (time.process_time() - started) / bus.sent


def _turn(bus: Bus, agent: str, acts: Sequence[Any]) -> None:
    taken = bus.take(agent)
    bus.apply(taken)
    bus.mail(taken)
    posted = outgoing(bus, agent, taken.turn, acts)
    bus.apply(TurnDone(agent=agent, turn=taken.turn, posted=posted))


@dataclass
class Chatting:
    """Stands for the gateway: whoever can have others join does so, and all write to the next."""

    names: Sequence[str]
    models: Mapping[str, Model] = field(default_factory=lambda: MODELS)

    async def chat(self, request: ChatRequest, *_: Any, **__: Any) -> ChatAnswer:
        """Answer at once."""
        await asyncio.sleep(0)
        choices = dict(_choices(request.schema or {}))
        acts = [_act("start_agent", "agent", name) for name in choices.get("start_agent", ())[:8]]
        system = str(request.messages[0]["content"])
        agent = system.partition("You are [")[2].partition("]")[0]
        following = self.names[(self.names.index(agent) + 1) % len(self.names)]
        if not acts and following in choices.get("send", ()):
            acts = [_act("send", "to", following)]
        text = json.dumps({"acts": acts, "report": "on" if len(acts) > 1 else ""})
        return ChatAnswer(text=text, usage=Usage(calls=1, prompt_tokens=9, completion_tokens=3))


def _choices(schema: Mapping[str, Any]) -> Iterator[tuple[str, Sequence[str]]]:
    """Yield who can be meant by each act that an agent may answer with."""
    items = schema.get("properties", {}).get("acts", {}).get("items", {})
    for item in items.get("anyOf", ()):
        said = item["properties"]
        about = said.get("agent") or said.get("to") or {}
        yield said["act"]["const"], about.get("enum", ())


def _act(act: str, whom: str, agent: str) -> Mapping[str, str]:
    return {"act": act, whom: agent, "text": TEXT}


def run_of(agents: int, messages: int, folder: Path) -> Run:
    """Make a whole run of so many agents that ends after so many messages."""
    names = names_of(agents)
    team = Team(
        name="crowd",
        agents={name: Agent(id=name, prompt=f"You are [{name}].") for name in names},
        execution=Execution(
            timeout=86_400,
            roster=Roster(lead=names[0], alive=agents, messages=messages, turns=1000),
        ),
    )
    plan = compile(team, Catalogue.of_host(models=MODELS))
    return asyncio.run(_made(plan, Chatting(names), folder))


async def _made(plan: Any, gateway: Any, folder: Path) -> Run:
    chatting: Gateway = gateway
    with Journal.open(folder) as journal:
        async with Toolbox() as toolbox:
            calls = Calls(gateway=chatting, journal=journal)
            context = Context(calls=calls, jails=UNUSED, toolbox=toolbox)
            return await perform(plan, Task(id="talk", query="Talk."), context)


@click.command(cls=Command)
@click.option("--agents", default=50, show_default=True, help="How many agents are active.")
@click.option("--quick", is_flag=True, help="A few messages, to see that it works.")
def main(agents: int, *, quick: bool) -> None:
    """Print what messages cost."""
    click.echo(f"| {' | '.join(HEAD)} |\n|{'---|' * len(HEAD)}")
    for messages in (10, 20) if quick else (300, 600, 1_200, 2_400):
        click.echo(_row(agents, messages))
    if not quick:
        click.echo(f"\nthe bus alone, 100,000 messages: {alone(agents, 100_000):.3f} CPU ms each")


def _row(agents: int, messages: int) -> str:
    with TemporaryDirectory() as home:
        folder = Path(home)
        started = time.process_time()
        run = run_of(agents, messages, folder)
        cpu = 1e3 * (time.process_time() - started)
        size = sum(path.stat().st_size for path in folder.iterdir()) / MEGABYTE
    with TemporaryDirectory() as home:
        tracemalloc.start()
        run_of(agents, messages, Path(home))
        peak = tracemalloc.get_traced_memory()[1] / MEGABYTE
        tracemalloc.stop()
    turns, sent = (sum(run.ending.turns.values()), run.ending.sent) if run.ending else (1, 0)
    cells = (f"{alone(agents, messages):.3f}", f"{turns:,}", f"{cpu / turns:.1f}")
    return f"| {' | '.join((f'{sent:,}', *cells, f'{peak:.0f}', f'{size:.1f}'))} |"


if __name__ == "__main__":
    main()
