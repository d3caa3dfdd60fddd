"""The benchmarks `repair` (included in this package) and `swe-bench` (with the user's files)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ...schema.team.task import ScorerChoice, Task
from ...schema.values.errors import InputError
from ..evaluation.benchmark import Benchmark, Headline, Source, mean_score
from ..evaluation.measures import Measure
from .environments import environments_dir
from .instance import Instance, parse_instance, read_instances
from .offline import find_repair, offline_repairs, repositories_dir
from .predictions import write_predictions
from .trial import check_tests

QUERY = """\
The repository you work in is {name}, at the commit that this report is about. Change its code so \
that what the report asks for holds.

<report>
{report}
</report>

Tests that you do not see decide: those that show the fault must pass, and those that pass today \
must go on passing. Existing tests count as they are, whatever you do to their files, so change \
the code and not the tests. Another release of the package may be installed: to run the code of \
the repository, start Python with PYTHONPATH=src:. in its top folder. Leave no other files."""


def repair_task(
    instance: Instance, repository: Path, niche: str, environments: Path | None = None
) -> Task:
    """Return a repair as a task: agents see the report and the repository, the scorer the tests.

    Args:
        environments: The folder of instances' environments; None: the user's cache.
    """
    options: dict[str, str] = {}
    if instance.environment is not None:
        parent = environments or environments_dir(None)
        options = {"environment": str(instance.environment.folder(parent))}
    report = instance.problem_statement.strip()
    return Task(
        id=instance.instance_id,
        query=QUERY.format(name=instance.repo, report=report),
        niche=niche,
        repo=repository,
        commit=instance.base_commit,
        answer=instance.reference(),
        scorer=ScorerChoice(name="repair", options=options),
    )


def _offline_tasks(source: Source) -> Sequence[Task]:
    folder = source.data or repositories_dir()
    return [
        repair_task(
            offline_repair.instance,
            folder / offline_repair.instance.instance_id,
            offline_repair.instance.repo,
        )
        for offline_repair in offline_repairs()
    ]


def _prepare_offline(source: Source, tasks: Sequence[Task]) -> None:
    """Download the releases of these tasks only."""
    for task in tasks:
        find_repair(task.id).repository(source.data or repositories_dir())


def _swe_bench_tasks(source: Source) -> Sequence[Task]:
    if source.data is None:
        raise InputError(
            "swe-bench has no files of its own. Name a folder with --data DIR: one file of"
            " instances (.json or .jsonl), and clones of their repositories in"
            " repositories/OWNER__NAME."
        )
    parent = environments_dir(source.data)
    return [
        repair_task(
            swe_bench_instance,
            _clone(swe_bench_instance, source.data),
            swe_bench_instance.repo,
            parent,
        )
        for swe_bench_instance in swe_bench_instances(source.data)
    ]


def _prepare_swe_bench(source: Source, tasks: Sequence[Task]) -> None:
    """Check that these tasks can be graded here: their tests, clones and environments."""
    for task in tasks:
        instance = parse_instance(task.answer, task.id)
        check_tests(instance)
        if task.repo is None or not task.repo.is_dir():
            raise InputError(
                f"{task.repo}: the repository of {task.id} does not exist. Clone it:"
                f" git clone --mirror <address of {instance.repo}> {task.repo}"
            )
        if instance.environment is not None:
            instance.environment.ensure(environments_dir(source.data))


def swe_bench_instances(folder: Path) -> Sequence[Instance]:
    """Read the only file of instances in a folder.

    Raises:
        InputError: There is none, or there are several, or it is not in SWE-bench's format.
    """
    paths = sorted(path for path in folder.glob("*.json*") if path.suffix in {".json", ".jsonl"})
    if len(paths) != 1:
        names = ", ".join(path.name for path in paths) or "none"
        raise InputError(
            f"{folder}: there must be exactly one file of instances, .json or .jsonl; found:"
            f" {names}."
        )
    return read_instances(paths[0])


def _clone(instance: Instance, folder: Path) -> Path:
    return folder / "repositories" / instance.repo.replace("/", "__")


RESOLVED = Headline(name="resolved", of=mean_score)

EMPTY_HANDED = {
    "empty_patch": Measure(unanswered=1.0),
    **dict.fromkeys(
        ("patch_applied", "f2p", "p2p", "partial", "edits_tests"), Measure(unanswered=0.0)
    ),
}
"""The measures of a run without an answer: those of an empty patch."""

REPAIR = Benchmark(
    name="repair",
    title="Offline repairs 1",
    about=(
        "Real faults of released Python packages, reported in our own words. The answer is a patch;"
        " hidden tests decide by SWE-bench's rules, run in the jail. Few and small: they show that"
        " a team can repair at all, not how well it does on SWE-bench."
    ),
    licence="Reports and tests: Apache-2.0. Packages: MIT (inflection, more-itertools, humanize),"
    " BSD-3-Clause (boltons).",
    citation="The rules: Jimenez et al., SWE-bench, ICLR 2024.",
    source="The releases are fetched by the package client of this machine, pinned by checksum.",
    tasks=_offline_tasks,
    prepare=_prepare_offline,
    exports={"predictions": write_predictions},
    headline=RESOLVED,
    measures=EMPTY_HANDED,
)

SWE_BENCH = Benchmark(
    name="swe-bench",
    title="SWE-bench format, graded without Docker",
    about=(
        "Any file of instances in SWE-bench's format. Verdicts follow the rules of swebench 5.0.2,"
        " but the tests run with pytest in the environment that an instance names, or the active"
        " one, instead of the official images. For figures to publish, export the predictions and"
        " run the official harness."
    ),
    licence="SWE-bench: MIT; each repository has its own.",
    citation="Jimenez et al., SWE-bench: Can Language Models Resolve Real-World GitHub Issues?,"
    " ICLR 2024.",
    source="--data DIR with one .json or .jsonl of instances and repositories/OWNER__NAME clones.",
    tasks=_swe_bench_tasks,
    prepare=_prepare_swe_bench,
    exports={"predictions": write_predictions},
    headline=RESOLVED,
    measures=EMPTY_HANDED,
)
