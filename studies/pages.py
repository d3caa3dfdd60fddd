"""How long pages of large folders take to be made, and how large they are.

    python -m studies.pages

It makes a pool of 1,000 teams with 10,000 trials and an evaluation of 5,000 samples, and a site of
each as `mas-view` does: opening it, then the first page, a page again, and the whole as a file.
Then 200 agents run, a scripted model behind them, seven times alone and seven times shown to a
reader who asks for the page every second: what their process needs of a processor.
"""

from __future__ import annotations

import asyncio
import random
import subprocess
import sys
import tempfile
import time
from contextlib import AsyncExitStack, chdir
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

import click
from click.testing import CliRunner

from coterie.benchmarks.command import main as mas_bench
from coterie.pool.ledger.changes import Evaluated
from coterie.pool.teams.pool import Pool
from coterie.pool.values.statistics import Trial
from coterie.runtime.command.viewer import viewer
from coterie.runtime.doubles import Reply, ScriptedModel
from coterie.runtime.runs.api import arun
from coterie.runtime.values.usage import Usage
from coterie.runtime.view import Links, opened
from coterie.runtime.view.pages import document
from coterie.runtime.view.report import make_page, report
from coterie.schema.command import Command
from coterie.schema.team.team import Agent, Lineage, Team
from coterie.schema.values.json_text import dumps

if TYPE_CHECKING:
    from collections.abc import Iterator

TEAM = 'name: adder\nagents: {one: {prompt: "Add."}}\n'
REPEATS = 7
READER = """
import sys, time, urllib.request
while True:
    if sys.argv[1]:
        urllib.request.urlopen(sys.argv[1]).read()
    time.sleep(1)
"""
ROW = "{:<12} {:<26} {:>7} {:>9}"


@click.command(cls=Command)
@click.option("--teams", type=click.IntRange(min=1), default=1_000, show_default=True)
@click.option("--trials", type=click.IntRange(min=0), default=10_000, show_default=True)
@click.option("--samples", type=click.IntRange(min=1), default=5_000, show_default=True)
def main(teams: int, trials: int, samples: int) -> None:
    """Measure how long pages of large folders take to be made, and how large they are."""
    click.echo(ROW.format("folder", "what", "seconds", "kB"))
    with tempfile.TemporaryDirectory() as place, chdir(place):
        large_pool(Path("pool"), teams, trials)
        large_evaluation(Path("results"), samples)
        (evaluation,) = Path("results").iterdir()
        addresses = {
            Path("pool"): ("", "teams", "lineage", "team/solo_1", "memory"),
            evaluation: ("", "samples", "samples/all/3", "sample/1/t7"),
        }
        for folder, pages in addresses.items():
            for what, seconds, size in page_times(folder, pages):
                name = folder.parts[0]
                click.echo(ROW.format(name, what, f"{seconds:.2f}", f"{size / 1000:.0f}"))
        alone, shown = _live()
        click.echo(f"a run of 200 agents needs {alone:.2f} s of a processor, shown {shown:.2f} s")


def page_times(folder: Path, addresses: tuple[str, ...]) -> Iterator[tuple[str, float, int]]:
    """Yield what of a site is made, how many seconds that takes, and how many characters it has."""
    began = time.perf_counter()
    site = opened(folder)
    contents = [*site.contents]

    def page(address: str) -> int:
        links = Links(here=address, contents=contents, base="/x/")
        return len(document(site, [(links, make_page(site, links, folder))]))

    size = page("")
    yield "opened, its first page", time.perf_counter() - began, size
    for address in addresses:
        began = time.perf_counter()
        size = page(address)
        yield address or "the first page again", time.perf_counter() - began, size
    began = time.perf_counter()
    size = len(report(site, folder))
    yield "all in a file", time.perf_counter() - began, size


def _live() -> tuple[float, float]:
    """Run 200 agents alone and shown, by turns; give the medians of their process's CPU."""
    agents = {
        f"a{level}_{place}": {"prompt": f"You are {place}."}
        for level in range(10)
        for place in range(20)
    }
    below = {
        f"a{level}_{place}": [f"a{level + 1}_{(place + 1) % 20}"]
        for level in range(9)
        for place in range(20)
    }
    last = {f"a9_{place}": ["end"] for place in range(20)}
    team = {
        "name": "many",
        "agents": {**agents, "end": {"prompt": "End."}},
        "topology": {"reports_to": {**below, **last}},
    }
    Path("many.yaml").write_text(dumps(team), encoding="utf-8")
    Path("script.yaml").write_text(dumps({"": {"text": "7" * 200, "latency": 0.2}}), "utf-8")
    table: dict[bool, list[float]] = {False: [], True: []}
    model = [sys.executable, "-m", "coterie.runtime.doubles", "script.yaml"]
    with subprocess.Popen(model, stdout=subprocess.PIPE, text=True) as serving:
        if serving.stdout is None:
            raise RuntimeError("there is a pipe, for it was asked for.")
        address = serving.stdout.readline().strip()
        for number in range(2 * REPEATS):
            is_shown = number % 2 == 1
            run = _run(f"m@{address}", Path(f"runs{number}"), is_shown=is_shown)
            table[is_shown].append(asyncio.run(run))
        serving.terminate()
    return median(table[False]), median(table[True])


async def _run(model: str, runs: Path, *, is_shown: bool) -> float:
    """Run the team; give the CPU that this process needed for it."""
    began = time.process_time()
    making = asyncio.create_task(arun("many.yaml", query="What?", model=model, runs=runs))
    async with AsyncExitStack() as stack:
        while not (folder := _made(runs)):  # noqa: ASYNC110 - the run's folder tells nobody
            await asyncio.sleep(0.01)
        address = ""
        if is_shown:
            address = await stack.enter_async_context(viewer(folder))
        reader = await asyncio.create_subprocess_exec(sys.executable, "-c", READER, address)
        stack.callback(reader.kill)
        await making
        return time.process_time() - began


def _made(runs: Path) -> Path | None:
    """Find the folder of a run that has begun."""
    return next((path.parent for path in runs.glob("*/events.jsonl")), None)


def large_pool(folder: Path, teams: int, trials: int) -> None:
    """Make a pool of many teams, each a child of an earlier one.

    Args:
        folder: Where.
        teams: How many.
        trials: How many trials there are of all teams together.
    """
    chance = random.Random(0)  # noqa: S311 - what is measured is the same each time
    pool = Pool.init(folder)
    names: list[str] = []
    for number in range(teams):
        team = Team(name="solo", agents={"one": Agent(id="one", prompt=f"Be {number}.")})
        parents = (chance.choice(names[-20:]),) if names else ()
        born = Lineage(parents=parents, operator="mutate" if parents else "seed")
        names.append(pool.add(team, born, op=f"make/{number}").name)
        for trial in range(trials // teams):
            pool.commit(
                Evaluated(
                    member=chance.choice(names),
                    trial=Trial(
                        task=f"t{trial}",
                        score=float(chance.random() < 0.5),
                        niche=chance.choice(["sums", "signs"]),
                        usage=Usage(calls=1, prompt_tokens=100, completion_tokens=10),
                    ),
                ),
                op=f"try/{number}/{trial}",
            )


def large_evaluation(folder: Path, samples: int) -> None:
    """Make an evaluation with many samples, of a scripted model.

    Args:
        folder: Where folders of results are made.
        samples: How many tasks there are, each tried once.
    """
    Path("team.yaml").write_text(TEAM, encoding="utf-8")
    tasks = [
        {
            "id": f"t{n}",
            "query": f"{n} + 1",
            "answer": str(n + 1 + n % 3 // 2),
            "niche": f"n{n % 9}",
        }
        for n in range(samples)
    ]
    Path("tasks.jsonl").write_text("".join(f"{dumps(task)}\n" for task in tasks), encoding="utf-8")
    words = ["run", "tasks.jsonl", "--team", "team.yaml", "--scorer", "number", "--quiet"]
    with ScriptedModel(lambda _: Reply(text="7")) as model:
        asked = ["--model", f"m@{model.api_base}", "--results", str(folder), "--workers", "16"]
        result = CliRunner().invoke(mas_bench, [*words, *asked])
    if result.exit_code:
        raise click.ClickException(result.output)


if __name__ == "__main__":
    main()
