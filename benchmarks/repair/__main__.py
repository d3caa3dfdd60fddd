"""Prepares offline repairs for `mas-run`, and grades predictions without Docker."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ...runtime.jail import Jails
from ...schema.command import Command
from ...schema.errors import InputError
from ...schema.files import write_atomically
from ..benchmark import Source
from .benchmark import REPAIR, SWE_BENCH, repair_task, swe_bench_instances
from .instance import parse_instance
from .offline import find_repair, offline_repairs
from .predictions import Prediction, read_predictions
from .trial import TEST_SECONDS, try_patch

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ...schema.task import Task

FOLDER = click.Path(file_okay=False, path_type=Path)
GOLD = "gold"


@click.group("repair")
def main() -> None:
    """Prepare offline repairs, and grade predictions without Docker."""


@main.command("prepare", cls=Command)
@click.argument("name")
@click.argument("folder", type=FOLDER)
def prepare(name: str, folder: Path) -> None:
    """Make FOLDER/NAME, the repository to repair, and FOLDER/NAME.json, the task for mas-run."""
    found = find_repair(name)
    repository = found.repository(folder)
    task = repair_task(found.instance, repository, found.instance.repo)
    path = folder / f"{name}.json"
    write_atomically(path, json.dumps(_task_file(task), indent=2) + "\n")
    click.echo(path)


@main.command("grade", cls=Command)
@click.argument("predictions")
@click.option(
    "--data",
    type=FOLDER,
    help="Folder of swe-bench. Default: the offline repairs.",
)
@click.option(
    "--timeout",
    type=click.FloatRange(min=0, min_open=True),
    default=TEST_SECONDS,
    show_default=True,
    help="Seconds that the tests of one may take.",
)
@click.option("--unsafe-local", is_flag=True, help="Run patches with all your rights.")
def grade(predictions: str, data: Path | None, timeout: float, unsafe_local: bool) -> None:
    """Grade the file PREDICTIONS, or 'gold': the repairs that are known to be right.

    Where gold patches are not resolved, this machine lacks what the tests need, and the verdicts
    on other patches say nothing.
    """
    jails = Jails(unsafe=unsafe_local)
    jails.check()
    tasks = {task.id: task for task in (SWE_BENCH if data else REPAIR).tasks(Source(data=data))}
    given = _gold(data) if predictions == GOLD else read_predictions(Path(predictions))
    counts: Counter[str] = Counter()
    for one in given:
        if one.instance_id not in tasks:
            raise InputError(f"{predictions}: there is no instance {one.instance_id!r} to grade.")
        verdict, reason = asyncio.run(_verdict(tasks[one.instance_id], one, jails, timeout))
        counts[verdict] += 1
        click.echo(f"{one.instance_id}: {verdict}: {reason}")
    counts["no prediction"] = len(tasks) - len(given)
    click.echo(f"{len(tasks)} instances: " + ", ".join(_told(counts)))


async def _verdict(
    task: Task, prediction: Prediction, jails: Jails, seconds: float
) -> tuple[str, str]:
    """Grade one prediction, in the harness's words: an empty patch is counted apart."""
    assert task.repo is not None  # noqa: S101 - tasks of these benchmarks have one
    instance = parse_instance(task.answer, task.id)
    trial = await try_patch(instance, task.repo, prediction.patch, jails, seconds=seconds)
    resolved = trial.grade is not None and trial.grade.resolved
    if not prediction.patch:
        return "empty patch", trial.reason
    return "resolved" if resolved else "unresolved", trial.reason


def _gold(data: Path | None) -> Sequence[Prediction]:
    instances = (
        [one.instance for one in offline_repairs()] if data is None else swe_bench_instances(data)
    )
    return [
        Prediction(instance_id=one.instance_id, model=GOLD, patch=one.patch) for one in instances
    ]


def _told(counts: Mapping[str, int]) -> Sequence[str]:
    kinds = ("resolved", "unresolved", "empty patch", "no prediction")
    return [f"{counts[kind]} {kind}" for kind in kinds]


def _task_file(task: Task) -> dict[str, object]:
    """Give a task as the value of a task file beside its repository."""
    return {
        "id": task.id,
        "query": task.query,
        "niche": task.niche,
        "repo": task.id,
        "answer": task.answer,
        "scorer": task.scorer.name,
    }


if __name__ == "__main__":
    main()
