"""Measures what an evaluation costs by itself: tasks per second and memory, no model waited for.

    python -m studies.throughput --data DIR       # BBEH: 4,520 tasks by a team of 7
    python -m studies.throughput --calls 5000     # so many model calls in flight

First an evaluation is made whose models answer at once; its answers go to a journal on disk. Then
it is made again from the journal, as `mas-bench replay` does: every prompt is derived and compared
and every answer scored. Each is a process of its own.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from coterie.benchmarks.evaluation.benchmark import Source, find_benchmark
from coterie.benchmarks.evaluation.evaluation import Evaluation
from coterie.runtime.gateway import ChatAnswer
from coterie.runtime.plan.plan import compile
from coterie.runtime.record.journal import Journal
from coterie.runtime.runs.services import Services, Setting, open_services
from coterie.runtime.values.usage import Usage
from coterie.schema.command import Command
from coterie.schema.host.catalogue import Catalogue
from coterie.schema.host.models import DEFAULT_ALIAS, Model
from coterie.schema.loading.loading import load_team
from coterie.schema.team.task import ScorerChoice, Task

from .carrying import carried, loads, resident, table
from .gateways import OfflineGateway

if TYPE_CHECKING:
    from collections.abc import Sequence

    from coterie.runtime.gateway import ChatRequest
    from coterie.runtime.plan.plan import Plan
    from coterie.runtime.record.trace import Parts

SEED = Path(__file__).parents[1] / "seeds" / "majority_vote.yaml"
WORKERS = 8
QUARTERS = 4
CHARACTERS = 4_000
"""Of a made-up task; those of BBEH have 750 to 13,400 on the mean, by subtask."""


class Immediate(OfflineGateway):
    """A gateway that asks nobody and answers at once."""

    async def chat(self, request: ChatRequest, *_: Any, **__: Any) -> ChatAnswer:
        """Answer the same to everything."""
        usage = Usage(calls=1, prompt_tokens=1_000, completion_tokens=10)
        text = "I went through it step by step.\nThe answer is: 42"
        return ChatAnswer(text=text, usage=usage, model=request.model, alias=request.model)


def team_plan() -> Plan:
    """Compile the seed team majority_vote, all of its agents plain LLMs."""
    known = Catalogue.of_host(models={DEFAULT_ALIAS: Model(alias=DEFAULT_ALIAS, model="none")})
    team = load_team(SEED, known)
    agents = {
        name: replace(agent, agent_type="LLM", backend=None, tools=())
        for name, agent in team.agents.items()
    }
    return compile(replace(team, agents=agents), known)


def some_tasks(data: Path | None, count: int) -> Sequence[Task]:
    """Return tasks of BBEH, or as many made-up ones without its data."""
    if data is not None:
        return find_benchmark("bbeh").tasks(Source(data=data))[:count]
    words = "A made-up question of the usual length. " * (CHARACTERS // 40)
    scorer = ScorerChoice(name="bbeh")
    return [
        Task(id=f"task-{number}", query=f"{number}. {words}", answer="42", scorer=scorer)
        for number in range(count)
    ]


async def measured(
    folder: Path, tasks: Sequence[Task], *, replaying: bool, parts: Parts | None = None
) -> dict[str, Any]:
    """Make an evaluation, or make it again; say how long it took and how memory grew."""
    plan, sizes = team_plan(), list[float]()
    done = 0

    def count(_sample: object) -> None:
        nonlocal done
        done += 1
        if done % max(1, len(tasks) // QUARTERS) == 0:
            sizes.append(resident())

    async with open_services(Catalogue.of_host(), Setting(seed=0)) as host:
        gateway = Immediate({DEFAULT_ALIAS: Model(alias=DEFAULT_ALIAS, model="none")})
        services: Services = replace(host, gateway=gateway)
        with Journal.open(folder, replaying=replaying) as journal:
            evaluation = Evaluation(
                plan=plan,
                tasks=tasks,
                trials=1,
                workers=WORKERS,
                services=services,
                journal=journal,
                scrubber=services.scrubber({}),
                on_sample=count,
                parts=parts,
            )
            before, started, cpu = resident(), time.monotonic(), time.process_time()
            differing = await evaluation.again() if replaying else []
            if not replaying:
                await evaluation.to_the_end()
            seconds, used = time.monotonic() - started, time.process_time() - cpu
    if differing or done != len(tasks):
        raise RuntimeError(f"{done} of {len(tasks)} were made, {len(differing)} differ.")
    return {"seconds": seconds, "cpu": used, "before": before, "resident": sizes}


@click.command(cls=Command)
@click.option("--tasks", "count", type=click.IntRange(min=4), default=4_520, show_default=True)
@click.option(
    "--data",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="The folder with BBEH's files.  [default: made-up tasks of its length]",
)
@click.option(
    "--calls",
    type=click.IntRange(min=1),
    help="Only measure how many model calls one process carries, with so many in flight.",
)
@click.option(
    "--latency",
    type=click.FloatRange(min=0.0, max=600.0),
    default=2.0,
    show_default=True,
    help="Seconds that each of these calls takes.",
)
@click.option("--phase", type=click.Choice(["record", "replay"]), hidden=True)
@click.option("--folder", type=click.Path(path_type=Path), hidden=True)
def main(
    *,
    count: int,
    data: Path | None,
    calls: int | None,
    latency: float,
    phase: str | None,
    folder: Path | None,
) -> None:
    """Measure tasks per second and memory of an evaluation by a team of 7 plain agents."""
    if phase is not None and folder is not None:
        tasks = some_tasks(data, count)
        fields = asyncio.run(measured(folder, tasks, replaying=phase == "replay"))
        click.echo(json.dumps(fields))
        return
    if calls is not None:
        click.echo(table([(load, carried(load)) for load in loads(calls, latency)]))
        return
    click.echo("            tasks/s   CPU ms each   MB before   MB at each quarter of the tasks")
    with tempfile.TemporaryDirectory(prefix="throughput-") as kept:
        for step in ("record", "replay"):
            words = ["--tasks", str(count), "--phase", step, "--folder", kept]
            words += ["--data", str(data)] if data else []
            ran = subprocess.run(
                [sys.executable, "-m", "studies.throughput", *words],
                check=True, capture_output=True, text=True,
            )  # fmt: skip
            fields = json.loads(ran.stdout)
            grew = "  ".join(f"{size:.0f}" for size in fields["resident"])
            click.echo(
                f"{step:<10} {count / fields['seconds']:>8.0f} {fields['cpu'] / count * 1e3:>13.2f}"
                f" {fields['before']:>11.0f}   {grew}"
            )


if __name__ == "__main__":
    main()
