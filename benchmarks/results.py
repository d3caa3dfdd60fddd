"""Results: the folder of an evaluation, which says how it was made, what came of it, and goes on.

team.yaml       the team, with its prompts written out
run.json        how it was made: the benchmark and the choice of tasks, models, seeds, versions
samples.jsonl   what each trial came to, in the order of tasks and trials
results.json    the figures
journal.sqlite  every answer that was paid for; without it, what is there can still be read
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from ..runtime.record import MANIFEST, as_json, manifest, read_value
from ..runtime.trace import RunFolder
from ..schema import dump
from ..schema.errors import InputError
from ..schema.files import write_atomically
from .benchmark import Source, find_benchmark
from .choosing import Choice
from .figures import Figures
from .samples import Sample

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from ..runtime.plan import Plan
    from ..runtime.services import Setting
    from ..schema.task import Task
    from .benchmark import Benchmark

__all__ = ["Request", "Results", "read_results", "read_samples", "versions"]

VERSION = 1
RESULTS = "results.json"
SAMPLES = "samples.jsonl"
PACKAGES = ("coterie", "litellm", "mini-swe-agent", "smolagents")


@dataclass(frozen=True, kw_only=True, slots=True)
class Request:
    """What is to be evaluated on: a benchmark, the tasks of it, and how often each.

    Attributes:
        benchmark: The benchmark's name.
        source: Where its tasks come from.
        choice: Which of them.
        trials: How often each is tried.
    """

    benchmark: str
    source: Source
    choice: Choice
    trials: int

    def tasks(self) -> list[Task]:
        """Give the tasks, in order.

        Raises:
            InputError: The benchmark's files are missing, two of its tasks have the same id, or no
                task is left.
        """
        tasks = find_benchmark(self.benchmark).tasks(self.source)
        counts = Counter(task.id for task in tasks)
        if twice := [name for name, count in counts.items() if count > 1]:
            raise InputError(
                f"{self.benchmark}: two tasks have the id {twice[0]!r}. Each needs its own, or one"
                " would get the answers of the other."
            )
        return self.choice.of(tasks)

    def value(self) -> dict[str, Any]:
        """Write the request as a JSON object."""
        data = self.source.data
        return {
            "benchmark": self.benchmark,
            "source": {**asdict(self.source), "data": str(data.resolve()) if data else None},
            "choice": asdict(self.choice),
            "trials": self.trials,
        }

    @classmethod
    def of_value(cls, value: Mapping[str, Any]) -> Request:
        """Read a request."""
        source = dict(value["source"])
        source["data"] = Path(source["data"]) if source["data"] else None
        return cls(
            benchmark=value["benchmark"],
            source=Source(**source),
            choice=Choice(**value["choice"]),
            trials=value["trials"],
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class Results:
    """The folder of an evaluation.

    Attributes:
        folder: The folder.
        request: What is evaluated on.
        head: What else results.json says before any figure: team, models, versions.
    """

    folder: RunFolder
    request: Request
    head: Mapping[str, Any]

    @classmethod
    def begin(
        cls,
        folder: RunFolder,
        request: Request,
        plan: Plan,
        setting: Setting,
        *,
        command: Sequence[str],
    ) -> Self:
        """Write down all that is needed to go on with an evaluation.

        Args:
            folder: An empty folder.
            request: What is evaluated on.
            plan: The team.
            setting: How its runs are made.
            command: The words that the user typed.

        Raises:
            StorageError: They cannot be written.
        """
        head = {
            "command": " ".join(command),
            "team": plan.team.name,
            "content_hash": plan.content_hash,
            "models": {alias: model.model for alias, model in sorted(plan.models.items())},
            "seed": setting.seed,
            "versions": versions(),
        }
        folder.write("team.yaml", dump(plan.resolved))
        asked = {"evaluation": request.value(), "head": head}
        folder.write(MANIFEST, as_json({**manifest(plan, setting), **asked}))
        return cls(folder=folder, request=request, head=head)

    @classmethod
    def open(cls, folder: Path, *, scrub: Callable[[str], str]) -> Self:
        """Open the folder of an evaluation.

        Raises:
            InputError: It is none.
        """
        path = folder / MANIFEST
        value = read_value(path)
        try:
            request, head = Request.of_value(value["evaluation"]), value["head"]
        except (KeyError, TypeError) as error:
            raise InputError(f"{path}: not the manifest of an evaluation: {error!r}.") from None
        return cls(folder=RunFolder(folder, scrub), request=request, head=head)

    def write(self, samples: Iterable[Sample], benchmark: Benchmark, *, expected: int) -> Figures:
        """Write what there is: every sample, and the figures.

        Args:
            samples: The samples, taken one after the other; they are never all in memory.
            benchmark: Says what the headline is.
            expected: How many samples there are when all is done.

        Raises:
            StorageError: It cannot be written.
        """
        figures = Figures(headline=benchmark.headline)

        def lines() -> Iterator[str]:
            for one in samples:
                figures.take(one)
                yield self.folder.scrub(json.dumps(one.value(), ensure_ascii=False)) + "\n"

        write_atomically(self.folder.path / SAMPLES, lines())
        told = {
            "version": VERSION,
            "benchmark": benchmark.name,
            "title": benchmark.title,
            **self.head,
            "evaluation": self.request.value(),
            "complete": figures.samples == expected,
            "missing": expected - figures.samples,
            **figures.results(),
        }
        self.folder.write(RESULTS, as_json(told))
        return figures


def read_results(folder: Path) -> dict[str, Any]:
    """Read the figures of an evaluation.

    Raises:
        InputError: There are none, or they are of another version.
    """
    value = read_value(folder / RESULTS)
    if value.get("version") != VERSION:
        raise InputError(
            f"{folder / RESULTS}: version {value.get('version')!r} is not {VERSION}, the one that"
            " this coterie reads."
        )
    return value


def read_samples(folder: Path) -> Iterator[Sample]:
    """Read the samples of an evaluation, one after the other.

    Raises:
        InputError: There are none, or a line is damaged.
    """
    path = folder / SAMPLES
    try:
        with path.open("rb") as lines:
            for number, line in enumerate(lines, start=1):
                try:
                    yield Sample.of_value(json.loads(line))
                except (ValueError, TypeError) as error:
                    raise InputError(f"{path}:{number}: not a sample: {error}.") from None
    except FileNotFoundError:
        raise InputError(f"{path}: there is no such file.") from None


def versions() -> dict[str, str]:
    """Name what is installed of what decides how teams run."""
    found: dict[str, str] = {}
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found
