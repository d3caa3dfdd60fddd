"""Prepares offline repairs for `mas-run`, and grades predictions."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from ...runtime.jail import Jails
from ...schema.command import Command, as_json
from ...schema.team.task import Task
from ...schema.values.errors import InputError
from ...schema.values.files import make_folder, write_atomically
from ...schema.values.json_text import dumps
from ..evaluation.benchmark import Source
from ..evaluation.choosing import matching
from .benchmark import REPAIR, SWE_BENCH, repair_task, swe_bench_instances
from .instance import parse_instance
from .offline import find_repair, offline_repairs
from .predictions import Prediction, read_predictions
from .trial import TEST_SECONDS, PatchTrial, try_patch

FOLDER = click.Path(file_okay=False, path_type=Path)
GOLD = "gold"
KINDS = ("resolved", "unresolved", "empty patch", "no prediction")


@click.group("repair")
def main() -> None:
    """Prepare offline repairs, and grade predictions without Docker."""


@main.command("prepare", cls=Command)
@click.argument("name")
@click.argument("folder", type=FOLDER)
def prepare(name: str, folder: Path) -> None:
    """Make FOLDER/NAME, the repository to repair, and FOLDER/NAME.json, the task for mas-run."""
    repair = find_repair(name)
    repository = repair.repository(folder)
    task = repair_task(repair.instance, repository, repair.instance.repo)
    path = folder / f"{name}.json"
    write_atomically(path, dumps(_task_file(task), indent=2) + "\n")
    click.echo(path)


@main.command("grade", cls=Command)
@click.argument("predictions")
@click.option(
    "--data",
    type=FOLDER,
    help="Folder of swe-bench. Default: the offline repairs.",
)
@click.option(
    "--instances",
    multiple=True,
    metavar="GLOB",
    help="Grade only instances whose id matches, such as 'astropy__*'. May be repeated.",
)
@click.option(
    "--timeout",
    type=click.FloatRange(min=0, min_open=True),
    default=TEST_SECONDS,
    show_default=True,
    help="The time limit for the tests of an instance, in seconds.",
)
@click.option("--logs", type=FOLDER, help="Write the tests' output to this folder, as ID.log.")
@as_json
@click.option("--unsafe-local", is_flag=True, help="Run patches with all your rights.")
def grade(predictions: str, *, data: Path | None, unsafe_local: bool, **options: Any) -> None:
    """Grade the file PREDICTIONS, or 'gold': the repairs that are known to be right.

    Where gold patches are not resolved, this machine lacks what the tests need, and the verdicts
    on other patches say nothing.
    """
    jails = Jails(unsafe=unsafe_local)
    jails.check()
    source, benchmark = Source(data=data), SWE_BENCH if data else REPAIR
    tasks = {task.id: task for task in benchmark.tasks(source)}
    predicted = _gold(data) if predictions == GOLD else read_predictions(Path(predictions))
    for item in predicted:
        if item.instance_id not in tasks:
            raise InputError(f"{predictions}: no instance {item.instance_id!r} to grade.")
    chosen = set(matching(list(tasks), options["instances"], str))
    predicted = [prediction for prediction in predicted if prediction.instance_id in chosen]
    benchmark.prepare(source, [tasks[prediction.instance_id] for prediction in predicted])
    logs: Path | None = options["logs"]
    if logs is not None:
        make_folder(logs)
    counts: Counter[str] = Counter({"no prediction": len(chosen) - len(predicted)})
    rows: dict[str, dict[str, object]] = {}
    for item in predicted:
        verdict, trial = asyncio.run(
            _verdict(tasks[item.instance_id], item, jails, options["timeout"])
        )
        counts[verdict] += 1
        rows[item.instance_id] = _row(verdict, trial)
        if logs is not None:
            write_atomically(logs / f"{item.instance_id}.log", trial.log)
        if not options["as_json"]:
            click.echo(f"{item.instance_id}: {verdict}: {trial.reason}")
    if options["as_json"]:
        fields = {"counts": {kind: counts[kind] for kind in KINDS}, "instances": rows}
        click.echo(dumps(fields, indent=2))
    else:
        kinds = ", ".join(f"{counts[kind]} {kind}" for kind in KINDS)
        click.echo(f"{len(chosen)} instances: {kinds}")


async def _verdict(
    task: Task, prediction: Prediction, jails: Jails, seconds: float
) -> tuple[str, PatchTrial]:
    """Grade one prediction, in the harness's terms: an empty patch is counted separately."""
    assert task.repo is not None  # noqa: S101 - tasks of these benchmarks have one
    instance = parse_instance(task.answer, task.id)
    named = task.scorer.options.get("environment")
    environment = Path(named) if named else None
    trial = await try_patch(
        instance, task.repo, prediction.patch, jails, seconds=seconds, environment=environment
    )
    resolved = trial.grade is not None and trial.grade.resolved
    if not prediction.patch:
        return "empty patch", trial
    return "resolved" if resolved else "unresolved", trial


def _row(verdict: str, trial: PatchTrial) -> dict[str, object]:
    result = trial.grade
    fields: dict[str, object] = {
        "verdict": verdict,
        "reason": trial.reason,
        "patch_applied": trial.applied,
        "status": result and result.status,
    }
    if result is not None:
        fields["FAIL_TO_PASS"] = {"success": result.f2p_passed, "failure": result.f2p_failed}
        fields["PASS_TO_PASS"] = {"success": result.p2p_passed, "failure": result.p2p_failed}
    return fields


def _gold(data: Path | None) -> Sequence[Prediction]:
    instances = (
        [offline_repair.instance for offline_repair in offline_repairs()]
        if data is None
        else swe_bench_instances(data)
    )
    return [
        Prediction(instance_id=instance.instance_id, model=GOLD, patch=instance.patch)
        for instance in instances
    ]


def _task_file(task: Task) -> dict[str, object]:
    """Return the content of a task file beside its repository."""
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
