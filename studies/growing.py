"""Measures what a pool costs by itself as it grows: opening it, and one task of `evomas`.

    python -m studies.growing

Pools of many teams and long ledgers are written, with lines as `evomas` leaves them. Each is opened
from all of its lines, and from a snapshot; then the strategy works on some tasks there, with the
models of a landscape, whose own time does not count.
"""

from __future__ import annotations

import asyncio
import json
import os
import platform
import random
import resource
import statistics
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import click

from coterie.operators.evolution.evolution import Evolution
from coterie.operators.evolution.folder import open_folder
from coterie.operators.evolution.strategy import strategy_of
from coterie.pool.ledger.changes import Added, Evaluated, Learnt
from coterie.pool.ledger.ledger import line_of
from coterie.pool.teams.pool import Pool
from coterie.pool.values.layout import LEDGER, SNAPSHOTS, file_of
from coterie.pool.values.statistics import Trial
from coterie.runtime.record.journal import Journal
from coterie.runtime.values.usage import Usage
from coterie.schema.command import Command
from coterie.schema.loading.recipe import Recipe
from coterie.schema.team.team import Lineage
from coterie.schema.team.writing import dump

from .landscape import CEILING, SEEDS, STUDY, world_of
from .simulated import services_of, stage_of
from .world.builders import BUILDERS, MODELS, PARTS, built
from .world.gateway import META, Simulated, catalogue
from .world.tasks import stream
from .world.trials import DRAWN
from .world.worlds import NICHES

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from coterie.runtime.gateway import ChatAnswer, ChatRequest
    from coterie.schema.team.team import Team

MODULE = "studies.growing"
EVOLUTION = "trial"
BEFORE = "evomas"
"""The evolution that the lines are said to come from."""
TRIALS = 4
"""Teams that a task tried."""
BATCH = 10_000
TASKS = 12
QUICK = ((4, 60),)
SIZES = tuple(
    (teams, lines) for lines in (10_000, 100_000, 1_000_000) for teams in (20, 100, 1_000)
)
USAGE = Usage(calls=3, prompt_tokens=3_000, completion_tokens=900)
HEADS = (
    "teams", "lines", "ledger, MB", "from all lines, s", "MB", "from a snapshot, s", "waited, s",
    "MB", "snapshot, MB", "one task, ms",
)  # fmt: skip


@click.command(cls=Command)
@click.option("--quick", is_flag=True, help="Small sizes: does everything work?")
@click.option(
    "--size",
    "sizes",
    metavar="TEAMS LINES",
    type=(click.IntRange(min=TRIALS), click.IntRange(min=1)),
    multiple=True,
    help="Such a pool alone; may be given several times. By default, nine of them.",
)
@click.option(
    "--tasks",
    "count",
    default=TASKS,
    show_default=True,
    type=click.IntRange(min=1),
    help="Tasks that are timed.",
)
@click.option("--opened", hidden=True, type=click.Path(path_type=Path), help="Time one opening.")
@click.option("--evolved", hidden=True, type=click.Path(path_type=Path), help="Time some tasks.")
def main(
    *,
    quick: bool,
    sizes: tuple[tuple[int, int], ...],
    count: int,
    opened: Path | None,
    evolved: Path | None,
) -> None:
    """Measure what pools cost that grow; print Markdown."""
    if opened is not None:
        click.echo(json.dumps(_opened(opened)))
        return
    if evolved is not None:
        click.echo(json.dumps(_evolved(evolved, count)))
        return
    click.echo(f"{platform.machine()}, Python {platform.python_version()}.\n")
    click.echo(f"| {' | '.join(HEADS)} |\n|{'---|' * len(HEADS)}")
    for teams, lines in sizes or (QUICK if quick else SIZES):
        with TemporaryDirectory() as folder:
            grow(Path(folder), teams, lines)
            click.echo(_row(Path(folder), teams, lines, count))
    click.echo(
        "\nSeconds and milliseconds are of the processor, but for those that one waits; a task's"
        f" are the median of {count}, without the models' own. MB of memory are the most that the"
        " process had."
    )


def grow(folder: Path, teams: int, lines: int) -> None:
    """Write a pool of so many teams, whose ledger has so many lines, as `evomas` leaves them."""
    pool = Pool.init(folder, [*SEEDS], catalogue=catalogue(*MODELS))
    names, founders = [*pool.teams], [team.team for team in pool.teams.values()]
    chance = random.Random(teams)  # noqa: S311 - guards nothing
    written, waiting, task = len(names) + 1, list[bytes](), 0
    while written + len(waiting) < lines:
        due = len(names) < teams * (written + len(waiting)) * 2 / lines
        if len(names) < teams and due:
            child = _child(founders, names, chance, task)
            (folder / file_of(child.name)).write_text(dump(child), encoding="utf-8")
            born = Added(member=child, lineage=child.lineage or Lineage(operator="mutate"))
            op = f"{BEFORE}/{task:06d}/best"
            waiting.append(line_of(born.value(), op, [file_of(child.name)]))
            names.append(child.name)
        waiting += _lines(names, chance, task)
        task += 1
        if len(waiting) >= BATCH:
            written += _append(folder, waiting)
            waiting = []
    _append(folder, waiting[: lines - written])


def _child(founders: list[Team], names: list[str], chance: random.Random, task: int) -> Team:
    """Make a team that no other equals: one of its agents is told a number."""
    number, parent = len(names), chance.choice(names[-40:])
    team = chance.choice(founders)
    first = next(iter(team.agents.values()))
    report = replace(first, prompt=f"{first.prompt} This is rule number {number}.")
    born = Lineage(operator="mutate", parents=(parent,), task=f"t{task}", run=BEFORE)
    agents = {**team.agents, first.id: report}
    return replace(team, name=f"team_{number}", agents=agents, lineage=born)


def _lines(names: list[str], chance: random.Random, task: int) -> Iterator[bytes]:
    """Yield what a task leaves: trials, most of them of adapted teams, and what was learnt."""
    niche = chance.choice(NICHES)
    for number, name in enumerate(chance.sample(names, min(TRIALS, len(names)))):
        is_adapted = number < TRIALS - 1
        trial = Trial(
            task=f"{BEFORE} {task}",
            niche=niche,
            score=chance.randrange(PARTS + 1) / PARTS,
            usage=USAGE,
            run=BEFORE,
            adapted=is_adapted,
        )
        op = f"{BEFORE}/{task:06d}/{'adapted' if is_adapted else 'trial'} {number}"
        yield line_of(Evaluated(member=name, trial=trial).value(), op)
    entry = Learnt(
        kind="evolution",
        task=f"Sheet {task}: which letters are right?",
        text="The team that checks each step twice scored more. Its judge asked for reasons.",
        niche=niche,
        case=f"{BEFORE} {task}",
        reward=0.5,
    )
    yield line_of(entry.value(), f"{BEFORE}/{task:06d}/learnt")


def _append(folder: Path, lines: list[bytes]) -> int:
    with (folder / LEDGER).open("ab") as stream:
        stream.writelines(lines)
    return len(lines)


def _row(folder: Path, teams: int, lines: int, count: int) -> str:
    whole = _apart("--opened", folder)
    snapshot = _size(folder / SNAPSHOTS)
    again = _apart("--opened", folder)
    task = _apart("--evolved", folder, "--tasks", str(count))
    cells = (
        f"{teams:,}",
        f"{lines:,}",
        f"{_size(folder / LEDGER):.0f}",
        f"{whole['cpu']:.2f}",
        f"{whole['peak']:.0f}",
        f"**{again['cpu']:.2f}**" if snapshot else "-",
        f"{again['wall']:.2f}" if snapshot else "-",
        f"{again['peak']:.0f}" if snapshot else "-",
        f"{snapshot:.1f}" if snapshot else "-",
        f"**{1e3 * task['cpu']:.0f}**",
    )
    return f"| {' | '.join(cells)} |"


def _size(path: Path) -> float:
    """Return what a file takes, or all files of a folder, in MB."""
    files = path.glob("*") if path.is_dir() else [path]
    return sum(file.stat().st_size for file in files if file.exists()) / 1e6


def _apart(*arguments: str | Path) -> Mapping[str, float]:
    """Measure in a process of its own, in which linear algebra does not spin on a second core."""
    command = [sys.executable, "-m", MODULE, *map(str, arguments)]
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run(command, env=environment, check=True, capture_output=True)
    return json.loads(done.stdout)


def _opened(folder: Path) -> Mapping[str, float]:
    """Open a pool; say how long that takes, and how much memory the process has had then."""
    cpu, wall = time.process_time(), time.perf_counter()
    Pool.open(folder, catalogue=catalogue(*MODELS))
    cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    scale = 1 if sys.platform == "darwin" else 1024
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * scale / 1e6
    return {"cpu": cpu, "wall": wall, "peak": peak}


def _evolved(folder: Path, count: int) -> Mapping[str, float]:
    """Work on some tasks; say what one takes in the median, beside what the models take."""
    return {"cpu": statistics.median(asyncio.run(_tasks(folder, count)))}


class _Timed(Simulated):
    """The models of a landscape, with what they took."""

    spent = 0.0

    async def chat(self, request: ChatRequest, *also: Any, **named: Any) -> ChatAnswer:
        """Answer."""
        started = time.process_time()
        try:
            return await super().chat(request, *also, **named)
        finally:
            self.spent += time.process_time() - started


async def _tasks(folder: Path, count: int) -> list[float]:
    pool = Pool.open(folder, catalogue=catalogue(*MODELS))
    world = world_of(DRAWN, 0, "")
    gateway = _Timed(world, BUILDERS, built, MODELS)
    settings = strategy_of(STUDY.strategy).settings(**{**STUDY.settings, "memory": 0})
    recipe = Recipe(strategy=STUDY.strategy, settings=settings, meta_model=META)
    taken: list[float] = []
    with Journal.open(open_folder(pool.folder, EVOLUTION)) as journal:
        stage = stage_of(
            recipe,
            services_of(gateway, 0),
            journal,
            pool,
            catalogue=catalogue(*MODELS),
            ceiling=CEILING,
            memory=None,
        )
        last = [time.process_time()]

        def on_episode(_line: Mapping[str, object]) -> None:
            now = time.process_time() - gateway.spent
            taken.append(now - last[0])
            last[0] = now

        await Evolution(
            context=stage,
            strategy=strategy_of(recipe.strategy),
            tasks=stream(world, 0, count + 1),
            folder=pool.folder / "evolutions" / EVOLUTION,
            on_episode=on_episode,
        ).to_the_end()
    return taken[1:]  # the first one also imports what it needs


if __name__ == "__main__":
    main()
