"""Evaluations on the user's own file of tasks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from types import MappingProxyType

from ...schema.host.catalogue import Catalogue
from ...schema.loading.loading import STREAMS
from ...schema.loading.scorers import EXACT, scorer_hint
from ...schema.loading.task_form import TaskForm, columns_of
from ...schema.loading.tasks import open_tasks
from ...schema.team.task import ScorerChoice, Task
from ...schema.values.errors import InputError
from ...schema.values.problems import quoted
from .benchmark import Benchmark, Source

NAME = "own"
JUDGE = "judge"
"""The name in place of a scorer that selects the judge model."""


def is_own(name: str) -> bool:
    """Return whether a benchmark's name is a file of tasks."""
    return name.endswith(STREAMS)


def is_judged(task: Task) -> bool:
    """Return whether a judge scores a task."""
    return task.scorer.name == JUDGE


def tasks(source: Source) -> Sequence[Task]:
    """Load the tasks of a file.

    Raises:
        InputError: There is no such file or scorer, or tasks have neither an answer nor a judge;
            the message names all of them.
        ConfigError: Tasks do not load; the exception has every problem.
    """
    if source.data is None:
        raise InputError(f"{NAME}: name the tasks: mas-bench run TASKS.jsonl, or --data.")
    catalogue = source.catalogue or Catalogue.of_host()
    catalogue = replace(catalogue, scorers=catalogue.scorers | {JUDGE})
    scorer = source.scorer or EXACT
    if scorer not in catalogue.scorers:
        raise InputError(f"--scorer: no scorer {quoted(scorer)}.{scorer_hint(scorer, catalogue)}")
    with_rubric = partial(_with_rubric, rubric=source.rubric)
    columns = columns_of([source.columns] if source.columns else ())
    form = TaskForm(scorer=scorer, columns=columns)
    return open_tasks(source.data, catalogue, form, then=with_rubric)


def _with_rubric(task: Task, rubric: str) -> Task:
    if not is_judged(task):
        return task
    options = MappingProxyType({"rubric": rubric} if rubric else {})
    return replace(task, scorer=ScorerChoice(name=JUDGE, options=options))


OWN = Benchmark(
    name=NAME,
    title="Your own tasks",
    about=(
        "The tasks of a file: mas-bench run TASKS.jsonl, or TASKS.csv. Each is scored by the scorer"
        " that it names, else by --scorer."
    ),
    licence="Yours.",
    citation="Yours.",
    source="TASKS.jsonl has a task on each line, TASKS.csv a row of query and reference for each.",
    tasks=tasks,
    trials=1,
)
