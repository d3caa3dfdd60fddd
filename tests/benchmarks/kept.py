"""Samples, and folders of results as an evaluation keeps them, without running anything."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from coterie.benchmarks.evaluation.benchmark import Source, find_benchmark
from coterie.benchmarks.evaluation.choosing import TaskChoice
from coterie.benchmarks.evaluation.results import Request, Results
from coterie.benchmarks.evaluation.samples import Sample
from coterie.runtime import RunFolder, Setting, compile
from coterie.schema import Agent, Catalogue, Model, Team


def sample(task: str, score: float | None, **fields: Any) -> Sample:
    """Return a sample: `unscored` without a score, else `done`."""
    default: dict[str, Any] = {"trial": 1, "status": "unscored" if score is None else "done"}
    return Sample(task=task, score=score, **{**default, **fields})


def kept(
    folder: Path,
    samples: Iterable[Sample],
    *,
    benchmark: str = "bbeh-mini",
    team: str = "solo",
    trials: int = 1,
    missing: int = 0,
    data: Path | None = None,
) -> Path:
    """Make a folder of results with these samples."""
    models = {"default": Model(alias="default", model="m")}
    agent = Agent(id="one", prompt="Answer it.")
    plan = compile(Team(name=team, agents={"one": agent}), Catalogue.of_host(models=models))
    request = Request(
        benchmark=benchmark, source=Source(data=data), choice=TaskChoice(), trials=trials
    )
    folder.mkdir(parents=True)
    results = Results.begin(
        RunFolder(folder, str), request, plan, Setting(seed=0), command=["mas-bench", "run"]
    )
    result = list(samples)
    scored = sum(item.score is not None for item in result)
    results.write(iter(result), find_benchmark(benchmark), expected=scored + missing)
    return folder
