"""The folder of an evaluation: its setup and its samples. An evaluation can be resumed.

team.yaml       the team, with its prompts written out
run.json        the setup: the benchmark and the choice of tasks, models, seeds, versions
samples.jsonl   the result of each trial, in the order of tasks and trials
results.json    the figures
journal.log     every paid answer, and every sample: the source of the other two

Only the journal proves figures. If samples.jsonl or results.json differs from it, somebody edited
the file, and readers are warned. A folder without a journal can still be read, as unverifiable.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Self

from ...runtime.plan.plan import Plan
from ...runtime.record.journal import FILE, recorded
from ...runtime.record.trace import RunFolder
from ...runtime.runs.record import MANIFEST, as_json, manifest, read_as, read_value
from ...runtime.runs.services import Setting
from ...runtime.values.usage import Usage
from ...schema import dump
from ...schema.host.catalogue import Catalogue
from ...schema.team.task import Task
from ...schema.values.codec import Misfit, misfit, stored, to_value
from ...schema.values.errors import InputError
from ...schema.values.files import write_atomically
from ...schema.values.json_text import dumps, loads
from ...schema.values.problems import quoted
from ...schema.values.values import is_mapping
from .benchmark import Benchmark, Source, find_benchmark
from .choosing import TaskChoice
from .consumption import consumption
from .figures import EvaluationFigures
from .provenance import digest_of, endpoint, host, versions
from .samples import TASK_FIELDS, Sample, journaled, task_fields

VERSION = 2
RESULTS = "results.json"
SAMPLES = "samples.jsonl"
MOST_SHOWN = 120


@stored()
class Request:
    """The subject of an evaluation: a benchmark, a choice of its tasks, a number of trials."""

    benchmark: str
    source: Source
    choice: TaskChoice
    trials: int

    def tasks(self) -> list[Task]:
        """Return the tasks, in order.

        Raises:
            InputError: The benchmark's files are missing, two of its tasks have the same id, or no
                task is left.
        """
        tasks = self.choice.of(find_benchmark(self.benchmark).tasks(self.source))
        counts = Counter(task.id for task in tasks)
        if twice := [name for name, count in counts.items() if count > 1]:
            raise InputError(
                f"{self.benchmark}: two tasks have the id {twice[0]!r}. Each needs its own id, or"
                " they would share their answers."
            )
        return tasks

    def having(self, catalogue: Catalogue) -> Request:
        """Return the request with a catalogue of the names that tasks may use."""
        return replace(self, source=replace(self.source, catalogue=catalogue))

    @property
    def unsharded(self) -> Request:
        """The request that this is a shard of, or itself."""
        return replace(self, choice=replace(self.choice, shard=None))


@stored()
class _Begun:
    """The fields of an evaluation's run.json beside those of a run's."""

    evaluation: Request
    head: Mapping[str, Any]


@stored()
class _Written:
    """The fields that readers of results.json need."""

    version: int
    benchmark: str
    team: str
    samples: int
    title: str = ""
    models: Mapping[str, str] = field(default_factory=dict[str, str])
    evaluation: Request | None = None
    tasks: int = 0
    paid: Usage = field(default_factory=Usage)


@dataclass(frozen=True, kw_only=True, slots=True)
class Results:
    """The folder of an evaluation.

    Attributes:
        head: The fields of results.json before any figure: team, models, versions.
        tasks: The tasks, if known, whose questions samples.jsonl then has.
    """

    folder: RunFolder
    request: Request
    head: Mapping[str, Any]
    tasks: Sequence[Task] = ()

    @classmethod
    def begin(
        cls,
        folder: RunFolder,
        request: Request,
        plan: Plan,
        setting: Setting,
        *,
        command: Sequence[str],
        tasks: Sequence[Task] | None = None,
    ) -> Self:
        """Write everything needed to resume an evaluation.

        Args:
            folder: An empty folder.
            command: The words of the user's command.
            tasks: The tasks of the request, if known.
        """
        head = {
            "command": " ".join(command),
            "team": plan.team.name,
            "content_hash": plan.content_hash,
            "models": {alias: model.model for alias, model in sorted(plan.models.items())},
            "endpoints": {alias: endpoint(model) for alias, model in sorted(plan.models.items())},
            "seed": setting.seed,
            "versions": versions(),
            "host": host(),
        }
        if tasks is not None:
            head |= {"data": digest_of(tasks), "expected": len(tasks) * request.trials}
        folder.write("team.yaml", dump(plan.resolved))
        fields = {"evaluation": to_value(request), "head": head}
        folder.write(MANIFEST, as_json({**manifest(plan, setting), **fields}))
        return cls(folder=folder, request=request, head=head)

    @classmethod
    def open(cls, folder: Path, *, scrub: Callable[[str], str]) -> Self:
        """Open the folder of an evaluation.

        Raises:
            InputError: It is no such folder.
        """
        begun = read_as(_Begun, folder / MANIFEST, "the manifest of an evaluation")
        return cls(folder=RunFolder(folder, scrub), request=begun.evaluation, head=begun.head)

    def write(
        self, samples: Iterable[Sample], benchmark: Benchmark, *, expected: int
    ) -> EvaluationFigures:
        """Write all samples so far, and the figures.

        Args:
            samples: An iterator of samples; they are never all in memory.
            expected: The number of samples of the complete evaluation.
        """
        figures, tasks = EvaluationFigures.on(benchmark), {task.id: task for task in self.tasks}

        def lines() -> Iterator[str]:
            for sample in samples:
                figures.take(sample)
                line = {
                    **to_value(sample),
                    **(task_fields(tasks[sample.task]) if sample.task in tasks else {}),
                }
                yield self.folder.scrub(dumps(line, ensure_ascii=False)) + "\n"

        write_atomically(self.folder.path / SAMPLES, lines())
        fields = self._content(figures, benchmark, expected)
        if (self.folder.path / FILE).is_file():
            fields |= consumption(self.folder.path)
        self.folder.write(RESULTS, as_json(fields))
        return figures

    def _content(
        self, figures: EvaluationFigures, benchmark: Benchmark, expected: int
    ) -> dict[str, Any]:
        return {
            "version": VERSION,
            "benchmark": benchmark.name,
            "title": benchmark.title,
            **self.head,
            "evaluation": to_value(self.request),
            "complete": figures.samples == expected,
            "missing": expected - figures.samples,
            **figures.results(),
        }

    def so_far(self) -> dict[str, Any]:
        """Return the content of results.json for an evaluation that was killed."""
        benchmark = find_benchmark(self.request.benchmark)
        samples = scored_samples(self.folder.path)
        figures = EvaluationFigures.of(samples, benchmark.headline, benchmark.measures)
        fields = self._content(figures, benchmark, self.head.get("expected", figures.samples))
        return {**fields, **consumption(self.folder.path), "interrupted": True}


def read_results(folder: Path) -> dict[str, Any]:
    """Read the figures of an evaluation; of a killed one, the figures so far."""
    return read_evaluation(folder)[0]


def read_evaluation(folder: Path) -> tuple[dict[str, Any], list[Sample]]:
    """Read the figures of an evaluation and its samples, including unscored ones, unordered.

    Raises:
        InputError: As `read_results`.
    """
    journal = _recorded(folder)
    by_trial = journal or {}
    if not (folder / RESULTS).exists() and (folder / FILE).exists():
        return Results.open(folder, scrub=str).so_far(), [*by_trial.values()]
    value = _results(folder)
    written = [*_written_samples(folder, by_trial)]
    samples = {(sample.task, sample.trial): sample for sample in written} | by_trial
    if difference := next(_differences(folder, value, written, journal), None):
        raise InputError(
            f"{difference} It was edited, or belongs to another evaluation. To rebuild it from the"
            f" journal without calling a model: mas-bench resume {folder}"
        )
    is_behind = len(by_trial) > value["samples"]  # killed since
    if is_behind and (folder / MANIFEST).exists():
        return Results.open(folder, scrub=str).so_far(), [*samples.values()]
    return value, [*samples.values()]


def _results(folder: Path) -> dict[str, Any]:
    value = read_value(folder / RESULTS)
    if value.get("version") != VERSION:
        raise InputError(
            f"{folder / RESULTS}: version {quoted(value.get('version'))} is not supported, only"
            f" {VERSION}. To rebuild it from the journal: mas-bench resume {folder}"
        )
    if wrong := misfit(_Written, value):
        raise InputError(
            f"{folder / RESULTS}: not the file that an evaluation wrote: {wrong}. To rebuild it"
            f" from the journal: mas-bench resume {folder}"
        )
    return value


def differences(folder: Path) -> Iterator[str]:
    """Yield differences between samples.jsonl and results.json and their sources.

    Samples are compared with the journal, an evolution's with its lines, and figures with the
    samples. Entries that only the journal has are no difference: they came later.
    """
    by_trial = _recorded(folder)
    return _differences(
        folder,
        _results(folder),
        _written_samples(folder, by_trial or {}),
        by_trial,
    )


def _differences(
    folder: Path,
    summary: Mapping[str, Any],
    samples: Iterable[Sample],
    by_trial: Mapping[tuple[str, int], Sample] | None,
) -> Iterator[str]:
    figures, places = (
        EvaluationFigures.on(find_benchmark(summary["benchmark"])),
        set[tuple[str, int]](),
    )
    for sample in samples:
        figures.take(sample)
        where = (sample.task, sample.trial)
        line = f"{folder / SAMPLES}: task {sample.task}, trial {sample.trial}"
        if where in places:
            yield f"{line} occurs twice."
        places.add(where)
        if by_trial is not None and sample.score is not None:
            yield from _against(by_trial.get(where), sample, line)
    for name, value in loads(dumps(figures.results())).items():
        if summary.get(name) != value:
            was, now = (dumps(item)[:MOST_SHOWN] for item in (summary.get(name), value))
            yield f"{folder / RESULTS}: {name} is {was}, but the samples give {now}."


def _against(recorded: Sample | None, sample: Sample, line: str) -> Iterator[str]:
    if recorded is None:
        yield f"{line}: the journal has no such sample."
    elif to_value(recorded) != to_value(sample):
        there = "none" if recorded.score is None else f"{recorded.score:g}"
        scores = f"{sample.score:g} here, {there} there"
        yield f"{line} differs from the journal (score {scores})."


def _recorded(folder: Path) -> dict[tuple[str, int], Sample] | None:
    """Read the samples of a folder's journal; None without a journal."""
    if not (folder / FILE).exists():
        return None
    samples = (journaled(path, value) for path, value in recorded(folder, "sample"))
    return {(sample.task, sample.trial): sample for sample in samples}


def scored_samples(folder: Path) -> Iterator[Sample]:
    """Yield the samples with a score: those of the journal, else of samples.jsonl."""
    by_trial = _recorded(folder)
    result = read_samples(folder) if by_trial is None else by_trial.values()
    return (sample for sample in result if sample.score is not None)


def read_samples(folder: Path) -> Iterator[Sample]:
    """Yield the samples of an evaluation one by one."""
    return _written_samples(folder, {})


def _written_samples(folder: Path, by_trial: Mapping[tuple[str, int], Sample]) -> Iterator[Sample]:
    """Read samples.jsonl. A line that equals a known sample needs no further check."""
    path = folder / SAMPLES
    try:
        with path.open("rb") as lines:
            for number, line in enumerate(lines, start=1):
                try:
                    value = loads(line)
                except ValueError as error:
                    raise InputError(f"{path}:{number}: not a sample: {error}.") from None
                if (sample := _same(value, by_trial)) is not None:
                    yield sample
                    continue
                try:
                    yield Sample.of_value(value)
                except Misfit as error:
                    raise InputError(f"{path}:{number}: not a sample: {error}.") from None
    except FileNotFoundError:
        raise InputError(f"{path}: there is no such file.") from None
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}.") from None


def _same(value: Any, by_trial: Mapping[tuple[str, int], Sample]) -> Sample | None:
    """Return the known sample that a line equals, if any."""
    if not is_mapping(value):
        return None
    where = (value.get("task"), value.get("trial"))
    if not isinstance(where[0], str) or not isinstance(where[1], int):
        return None
    sample = by_trial.get((where[0], where[1]))
    line = {name: item for name, item in value.items() if name not in TASK_FIELDS}
    return sample if sample is not None and to_value(sample) == line else None
