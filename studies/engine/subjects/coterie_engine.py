"""This project's engine with the `llm` runner; `MAS_BENCH_RUNS` names a folder for run folders."""

from __future__ import annotations

import gc
import os
from pathlib import Path
from typing import Any

from workloads import SYSTEM, TASK, Workload, model

from coterie.runtime import Calls, Context, Gateway, Run, Setting, Toolbox, Trace, compile, perform
from coterie.runtime.command.signals import SELDOM
from coterie.runtime.jail import Jails
from coterie.runtime.runs.record import RunRecord
from coterie.runtime.scrubbing.scrubber import Scrubber
from coterie.schema import Agent, Catalogue, Execution, Model, Task, Team

SCRUB = Scrubber(["a-key-of-some-provider-42"])
"""Removes one key from what is written: whoever pays a provider has one in the environment."""


def build(workload: Workload, api_base: str) -> dict[str, Any]:
    """Compile the team once; the gateway is made where the loop runs."""
    gc.set_threshold(*SELDOM)  # as commands do
    names = {model(seconds) for seconds, _ in workload.agents.values()}
    models = {name: Model(alias=name, model=name, api_base=api_base) for name in names}
    receivers: dict[str, list[str]] = {}
    for agent, (_, before) in workload.agents.items():
        for reporter in before:
            receivers.setdefault(reporter, []).append(agent)
    team = Team(
        name=workload.name,
        agents={
            agent: Agent(id=agent, prompt=SYSTEM.format(agent=agent), model_id=model(seconds))
            for agent, (seconds, _) in workload.agents.items()
        },
        reports_to={reporter: tuple(names) for reporter, names in receivers.items()},
        declared_output=workload.output,
        execution=Execution(timeout=600),
    )
    return {"plan": compile(team, Catalogue.of_host(models=models)), "models": models}


async def run(team: dict[str, Any], run: str) -> str:
    """Execute the plan; with a record of the run, as `mas-run` keeps it, where one is wanted."""
    if "gateway" not in team:
        team["gateway"] = Gateway(team["models"])
    task = Task(id=run, query=TASK.format(run=run))
    folder = os.environ.get("MAS_BENCH_RUNS")
    if folder is None:
        calls = Calls(gateway=team["gateway"], scrub=SCRUB)
        result = await executed(team, task, Trace(), calls)
    else:
        async with RunRecord.begin(
            Path(folder), team["plan"], task, Setting(), scrub=SCRUB
        ) as record:
            calls = Calls(gateway=team["gateway"], journal=record.journal, scrub=SCRUB)
            result = await executed(team, task, Trace(record.folder), calls)
            record.finish(result)
    return result.answer or f"{result.error}"


async def executed(team: dict[str, Any], task: Task, trace: Trace, calls: Calls) -> Run:
    """Execute the plan over the team's gateway."""
    return await perform(
        team["plan"], task, Context(calls=calls, jails=Jails(), toolbox=Toolbox(), trace=trace)
    )
