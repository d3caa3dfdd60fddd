"""Streams of an arena: tasks to learn from, and others, which share no question, to test on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, Self

from ...schema.host.catalogue import Catalogue
from ...schema.team.task import Task
from ...schema.values.errors import InputError
from ..evaluation.benchmark import Source, find_benchmark
from ..evaluation.choosing import TaskChoice
from ..evaluation.own import OWN, is_own
from ..papers.streams import PaperStream, apart
from ..streams.tasks import STREAMS, Split, stream

BENCHMARK = "benchmark:"
COUNT = 40
"""How many tasks there are of each kind, unless the file says otherwise."""


@dataclass(frozen=True, kw_only=True)
class StreamSource:
    """Where the tasks of a stream come from.

    Attributes:
        names: The streams that are mixed; or one benchmark, or one file.
        evolve: How many tasks there are to learn from, or the file that has them.
        folder: The folder that files are relative to.
        source: What a benchmark is asked for.
    """

    names: tuple[str, ...]
    evolve: int | str
    test: int | str
    folder: Path
    source: Source

    @classmethod
    def of(cls, name: str, written: Mapping[str, Any], folder: Path, catalogue: Catalogue) -> Self:
        """Read what arena.yaml has of a stream."""
        names = written.get("from", name)
        options = {key: written[key] for key in ("scorer", "level") if key in written}
        data = folder / written["data"] if "data" in written else None
        return cls(
            names=(names,) if isinstance(names, str) else tuple(names),
            evolve=written.get("evolve", COUNT),
            test=written.get("test", COUNT),
            folder=folder,
            source=Source(data=data, known=catalogue, **options),
        )

    def tasks(self, seed: int) -> PaperStream:
        """Return the tasks with a seed; the same ones whenever it is asked."""
        return _tasks(self, seed)

    def prepare(self, seed: int) -> None:
        """Make ready what tasks of a benchmark need, such as clones."""
        name, tasks = self.names[0], self.tasks(seed)
        if isinstance(self.test, int) and name not in STREAMS and not is_own(name):
            benchmark = find_benchmark(name.removeprefix(BENCHMARK))
            benchmark.prepare(self.source, [*tasks.tasks, *tasks.held_out])

    def drawn(self, split: Split, seed: int) -> Sequence[Task]:
        """Draw the tasks of a split with a seed."""
        count, other = self.evolve, self.test
        if split == "test":
            count, other = other, count
        if isinstance(count, str) != isinstance(other, str):
            raise InputError("evolve and test are two files, or two numbers. Write both alike.")
        if isinstance(count, str):
            return self._file(count)
        if all(name in STREAMS for name in self.names):
            each = (stream(name, split, count=count, seed=seed) for name in self.names)
            return [task for tasks in zip(*each, strict=True) for task in tasks][:count]
        if len(self.names) > 1:
            raise InputError(f"only streams can be mixed: {', '.join(STREAMS)}.")
        return TaskChoice(split=split, limit=count, seed=seed).of(self._everything(seed))

    def _everything(self, seed: int) -> Sequence[Task]:
        (name,) = self.names
        if is_own(name):
            return self._file(name)
        source = replace(self.source, seed=seed)
        return find_benchmark(name.removeprefix(BENCHMARK)).tasks(source)

    def _file(self, name: str) -> Sequence[Task]:
        return OWN.tasks(replace(self.source, data=self.folder / name))


@cache
def _tasks(source: StreamSource, seed: int) -> PaperStream:
    test = source.drawn("test", seed)
    evolve = apart(source.drawn("evolve", seed), test)
    if not evolve or not test:
        raise InputError("it has no task to learn from, or none to test on.")
    return PaperStream(tasks=evolve, held_out=[*test])
