"""The least that a subject can do: one asyncio task per agent that waits for its predecessors'."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from workloads import SYSTEM, Workload, model, prompt

Call = Callable[[str, list[dict[str, str]]], Awaitable[str]]


async def dataflow(team: Workload, run: str, call: Call) -> str:
    """Run a team with nothing but asyncio; `call` takes a model and messages."""
    tasks: dict[str, asyncio.Task[str]] = {}

    async def part(agent: str) -> str:
        seconds, before = team.agents[agent]
        outputs = {name: await tasks[name] for name in before}
        messages = [
            {"role": "system", "content": SYSTEM.format(agent=agent)},
            {"role": "user", "content": prompt(run, outputs)},
        ]
        return await call(model(seconds), messages)

    async with asyncio.TaskGroup() as group:
        for agent in team.agents:
            tasks[agent] = group.create_task(part(agent))
    return tasks[team.output].result()
