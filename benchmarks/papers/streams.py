"""The tasks of a run: those for evolution, and the held-out ones."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from itertools import islice
from pathlib import Path
from typing import Any

from ...schema.team.task import Task
from ...schema.values.errors import InputError
from ..evaluation.benchmark import Source, find_benchmark
from ..evaluation.choosing import TaskChoice
from ..evaluation.own import OWN
from .tables import PaperRun

Part = dict[str, Any]
OWN_FILE = "write a task on each line (mas dev explain task), and name the folder with --data."
SEED = 0
"""The seed of the draw of tasks for evolution."""


@dataclass(frozen=True, kw_only=True, slots=True)
class PaperStream:
    """The tasks of a run.

    Attributes:
        tasks: The tasks for evolution, in order.
        held_out: The tasks for testing the frozen result; empty: there is no test.
    """

    tasks: Sequence[Task]
    held_out: Sequence[Task] = ()


def stream_of(run: PaperRun, data: Path | None) -> PaperStream:
    """Read the tasks of a run.

    Args:
        data: The folder with the files of its data sets.

    Raises:
        InputError: Files are missing; the message says how to get them.
    """
    how = run.how
    tasks = [*_tasks(run.paper.data[how["data"]], data, how.get("niche"))]
    evolved, held_out = tasks, list[Any]()
    if "test" in how:
        held_out = [*_tasks(run.paper.data[how["test"]], data, None)]
        evolved = apart(tasks, held_out)
    elif "evolve" in how:
        evolved = TaskChoice(limit=how["evolve"], seed=SEED).of(tasks)
        held_out = apart(tasks, evolved)
    if held_out and not run.learns:
        evolved, held_out = held_out, []
    return PaperStream(tasks=TaskChoice(shuffle=how.get("shuffle")).of(evolved), held_out=held_out)


def is_generated(run: PaperRun) -> bool:
    """Return whether the tasks of a run are generated, so that no file is needed."""
    return not any(_source(part) for _, part in _parts(run))


def ways_to_get(run: PaperRun) -> str:
    """Return how to get the data of a run."""
    parts = [*_parts(run)]
    ways = [
        f"{name}: {way}" for name, part in parts if "benchmark" in part and (way := _source(part))
    ]
    if files := [f"{name} ({part['source']})" for name, part in parts if "file" in part]:
        ways.append(f"No adapter reads {', '.join(files)}: {OWN_FILE}")
    return " ".join(ways)


def prepare(run: PaperRun, data: Path | None, stream: PaperStream) -> None:
    """Prepare the needs of tasks, such as clones."""
    for _, part in _parts(run):
        if "benchmark" in part:
            tasks = [*stream.tasks, *stream.held_out]
            find_benchmark(part["benchmark"]).prepare(Source(data=data), tasks)


def _parts(run: PaperRun) -> Iterator[tuple[str, Part]]:
    named = [run.how[key] for key in ("data", "test") if key in run.how]
    parts = {part.get("benchmark") or part["file"]: part for name in named
             for part in _parts_of(run.paper.data[name], run.how.get("niche"))}  # fmt: skip
    yield from parts.items()


def _parts_of(data: Mapping[str, Any], niche: str | None) -> list[Part]:
    """Return the parts that may have tasks of a niche."""
    same_niche = [part for part in data["parts"] if niche and part.get("niche") == niche]
    return same_niche or [part for part in data["parts"] if not (niche and "niche" in part)]


def _tasks(data: Mapping[str, Any], folder: Path | None, niche: str | None) -> Iterator[Task]:
    for part in _parts_of(data, niche):
        tasks = [task for task in _of_part(part, folder) if niche in {None, task.niche}]
        if not tasks:
            name = part.get("benchmark") or part["file"]
            wanted = niche or part.get("only") or part.get("ids")
            raise InputError(f"{name}: no task of {wanted!r}. Is --data the right folder?")
        yield from tasks


def _of_part(part: Part, folder: Path | None) -> Iterator[Task]:
    fits = part.get("ids", "*")
    tasks = (
        task
        for task in _read(part, folder)
        if part.get("only") in {None, task.niche} and fnmatchcase(task.id, fits)
    )
    for task in islice(tasks, part.get("take")):
        yield replace(task, niche=part["niche"]) if "niche" in part else task


def _read(part: Part, folder: Path | None) -> Sequence[Task]:
    if "benchmark" in part:
        return find_benchmark(part["benchmark"]).tasks(Source(data=folder))
    path = None if folder is None else folder / part["file"]
    if path is None or not path.is_file():
        raise InputError(f"{part['file']}: not found. {_source(part)}")
    return OWN.tasks(Source(data=path, scorer=part.get("scorer", "")))


def _source(part: Part) -> str:
    if "benchmark" in part:
        return find_benchmark(part["benchmark"]).source
    return f"{part['source']} No adapter reads it: {OWN_FILE}"


def apart(tasks: Sequence[Task], others: Sequence[Task]) -> list[Task]:
    """Return the tasks that share no question with others."""
    questions = {(task.query, task.context) for task in others}
    return [task for task in tasks if (task.query, task.context) not in questions]
