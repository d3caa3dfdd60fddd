"""How long pages of large folders take to be made, and how large they are.

    python -m coterie.benchmarks.pages

It makes a pool of 1,000 teams with 10,000 trials and an evaluation of 5,000 samples, and a site of
each as `mas-view` does: opening it, then the first page, a page again, and the whole as a file.
"""

from __future__ import annotations

import random
import tempfile
import time
from contextlib import chdir
from pathlib import Path
from typing import TYPE_CHECKING

import click
from click.testing import CliRunner

from ...pool.changes import Tried
from ...pool.pool import Pool
from ...pool.statistics import Trial
from ...runtime.doubles import Reply, ScriptedModel
from ...runtime.usage import Usage
from ...runtime.view import Links, opened
from ...runtime.view.pages import document
from ...runtime.view.report import made, report
from ...schema.command import Command
from ...schema.json_text import dumps
from ...schema.team import Agent, Lineage, Team
from ..command import main as mas_bench

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["large_evaluation", "large_pool", "main"]

TEAM = 'name: adder\nagents: {one: {prompt: "Add."}}\n'
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
            for what, seconds, size in _measured(folder, pages):
                name = folder.parts[0]
                click.echo(ROW.format(name, what, f"{seconds:.2f}", f"{size / 1000:.0f}"))


def _measured(folder: Path, addresses: tuple[str, ...]) -> Iterator[tuple[str, float, int]]:
    began = time.perf_counter()
    site = opened(folder)
    contents = [*site.contents]

    def page(address: str) -> int:
        links = Links(here=address, contents=contents, base="/x/")
        return len(document(site, [(links, made(site, links, folder))]))

    size = page("")
    yield "opened, its first page", time.perf_counter() - began, size
    for address in addresses:
        began = time.perf_counter()
        size = page(address)
        yield address or "the first page again", time.perf_counter() - began, size
    began = time.perf_counter()
    size = len(report(site, folder))
    yield "all in a file", time.perf_counter() - began, size


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
                Tried(
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
    Path("tasks.jsonl").write_text("".join(f"{dumps(one)}\n" for one in tasks), encoding="utf-8")
    words = ["run", "tasks.jsonl", "--team", "team.yaml", "--scorer", "number", "--quiet"]
    with ScriptedModel(lambda _: Reply(text="7")) as model:
        asked = ["--model", f"m@{model.api_base}", "--results", str(folder), "--workers", "16"]
        came = CliRunner().invoke(mas_bench, [*words, *asked])
    if came.exit_code:
        raise click.ClickException(came.output)


if __name__ == "__main__":
    main()
