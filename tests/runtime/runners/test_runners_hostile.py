"""Whatever a provider answers the agents of other libraries, it costs little and ends in a result.

What their code and commands need in the jail is bounded there, and is no part of what is measured.
"""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import pytest

from coterie.runtime.jail import Jails
from coterie.schema import Agent, Execution, Task, Team

from ...damage import bounded
from ...hostile import ANSWERS, Body, calls, message, watched
from ..engine.test_engine_hostile import besieged

AGENTS: Mapping[str, Agent] = {
    "ToolCallingAgent": Agent(
        id="a", agent_type="ToolCallingAgent", prompt="Do it.", tools=("list_files",), max_steps=2
    ),
    "CodeAgent": Agent(id="a", agent_type="CodeAgent", prompt="Do it.", max_steps=2),
    "DefaultAgent": Agent(id="a", agent_type="DefaultAgent", max_steps=2),
}


def code(lines: str) -> bytes:
    return message(content=f"<code>\n{lines}\n</code>")


def command(line: str, name: str = "bash") -> bytes:
    return calls(1, name=name, arguments=json.dumps({"command": line}))


MORE: Mapping[str, Body] = {
    "much code": lambda size: code("y = 2\n" * (size // 8)),
    "deep code": lambda size: code("(" * (size // 2)),
    "code that prints much": lambda size: code(f"print('a' * {10 * size})"),
    "code that raises much": lambda size: code(f"raise ValueError('a' * {10 * size})"),
    "code that answers much": lambda size: code(f"final_answer('a' * {size})"),
    "code that gives many values": lambda size: code(f"final_answer([0] * {size})"),
    "many blocks of code": lambda size: message(content="<code>\nx\n</code>\n" * (size // 20)),
    "marks of code": lambda size: message(content="<code>" * (size // 6)),
    "a long command": lambda size: command("echo " + "a" * size),
    "a command that prints much": lambda size: command(f"yes | head -c {10 * size}"),
    "a command that prints odd bytes": lambda size: command(f"head -c {size} /dev/urandom"),
    "a large patch": lambda size: command(f"yes | head -c {10 * size} > toy.py"),
    "many calls": lambda size: calls(size // 90, name="list_files"),
    "many commands": lambda size: calls(size >> 10, name="bash", arguments='{"command": "true"}'),
    "a long answer": lambda size: calls(
        1, name="final_answer", arguments=json.dumps({"answer": "a" * size})
    ),
    "a deep answer": lambda size: calls(
        1, name="final_answer", arguments='{"answer": ' + "[" * size
    ),
}
BODIES = {**ANSWERS, **MORE}


@pytest.fixture(autouse=True, scope="module")
def warm(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Import what only the first runs import, and try the jail: that is no answer's fault."""
    for kind, agent in AGENTS.items():
        if kind != "DefaultAgent":
            besieged(alone(agent), [message(content="1")], tmp_path_factory.mktemp("warm"))


def alone(agent: Agent) -> Team:
    return Team(name="alone", agents={"a": agent}, execution=Execution(max_retries=0))


def cases() -> Iterator[Any]:
    """Yield each answer to each kind of agent; on every change, to one of them in turn.

    Of those that also single chat calls get, each third.
    """
    for number, name in enumerate(BODIES):
        for place, kind in enumerate(AGENTS):
            is_drawn = name in MORE or number % (3 * len(AGENTS)) < len(AGENTS)
            by_night = number % len(AGENTS) != place or not is_drawn
            yield pytest.param(kind, name, marks=[pytest.mark.nightly] if by_night else [])


@pytest.mark.parametrize(("kind", "name"), [*cases()])
def test_an_answer_that_means_harm_is_an_answer(
    kind: str, name: str, repository: Path, monkeypatch: pytest.MonkeyPatch, nightly: bool
) -> None:
    body = BODIES[name](1_500_000 if nightly else 100_000)
    task = Task(id="t", query="What?", repo=repository if kind == "DefaultAgent" else None)

    folder = Path(mkdtemp(dir=repository.parent))
    with bounded(size=3 * len(body)), watched(monkeypatch):
        run = besieged(alone(AGENTS[kind]), [body], folder, task=task, jails=Jails())
    assert run.status in {"done", "failed"}
    assert run.status == "done" or run.error
