"""Streams of an arena: tasks to learn from, and others, which share no question, to test on."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Self

from ...schema.values.errors import InputError
from ..evaluation.benchmark import Source, find_benchmark
from ..evaluation.choosing import TaskChoice
from ..evaluation.own import OWN, is_own
from ..papers.streams import apart
from ..streams.tasks import STREAMS, stream

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from ...schema.host.catalogue import Catalogue
    from ...schema.team.task import Task
    from ..streams.tasks import Split

BENCHMARK = "benchmark:"
COUNT = 40
"""How many tasks there are of each kind, unless the file says otherwise."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ArenaTasks:
    """The tasks of a stream with one seed.

    Attributes:
        evolve: Those that methods learn from, in order.
        test: Those that the result is tested on; none asks what one of the others asks.
    """

    evolve: Sequence[Task]
    test: Sequence[Task]


@dataclass(frozen=True, kw_only=True)
class StreamSource:
    """Where the tasks of a stream come from.

    Attributes:
        names: The streams that are mixed; or one benchmark, or one file.
        evolve: How many tasks there are to learn from, or the file that has them.
        test: The same for the test.
        folder: The folder that files are relative to.
        source: What a benchmark is asked for.
    """

    names: tuple[str, ...]
    evolve: int | str
    test: int | str
    folder: Path
    source: Source

    @classmethod
    def of(cls, name: str, written: Mapping[str, Any], folder: Path, known: Catalogue) -> Self:
        """Read what arena.yaml has of a stream."""
        names = written.get("from", name)
        scorer = {"scorer": written["scorer"]} if "scorer" in written else {}
        data = folder / written["data"] if "data" in written else None
        source = Source(data=data, level=written.get("level", 1), known=known, **scorer)
        return cls(
            names=(names,) if isinstance(names, str) else tuple(names),
            evolve=written.get("evolve", COUNT),
            test=written.get("test", COUNT),
            folder=folder,
            source=source,
        )

    def tasks(self, seed: int) -> ArenaTasks:
        """Return the tasks with a seed; the same ones whenever it is asked.

        Raises:
            InputError: There is no such stream or file, or it has too few tasks.
            ConfigError: A file of tasks does not load.
        """
        return _tasks(self, seed)

    def prepare(self, tasks: ArenaTasks) -> None:
        """Make ready what tasks of a benchmark need, such as clones."""
        if not self._are_files and self.names[0] not in STREAMS:
            name = self.names[0].removeprefix(BENCHMARK)
            if not is_own(name):
                find_benchmark(name).prepare(self.source, [*tasks.evolve, *tasks.test])

    @property
    def _are_files(self) -> bool:
        return isinstance(self.evolve, str) and isinstance(self.test, str)

    def drawn(self, seed: int) -> ArenaTasks:
        """Draw the tasks with a seed."""
        if isinstance(self.evolve, str) and isinstance(self.test, str):
            return ArenaTasks(evolve=self._file(self.evolve), test=self._file(self.test))
        if isinstance(self.evolve, str) or isinstance(self.test, str):
            raise InputError("evolve and test are two files, or two numbers. Write both alike.")
        draw = self._mixed if all(name in STREAMS for name in self.names) else self._split
        return ArenaTasks(
            evolve=draw("evolve", self.evolve, seed), test=draw("test", self.test, seed)
        )

    def _mixed(self, split: Split, count: int, seed: int) -> list[Task]:
        """Take tasks of streams by turns."""
        each = (stream(name, split, count=count, seed=seed) for name in self.names)
        return [task for tasks in zip(*each, strict=True) for task in tasks][:count]

    def _split(self, split: Split, count: int, seed: int) -> list[Task]:
        """Take tasks of a benchmark, or of a file."""
        name, *others = self.names
        if others:
            raise InputError(f"only streams can be mixed: {', '.join(STREAMS)}.")
        return TaskChoice(split=split, limit=count, seed=seed).of(self._everything(name, seed))

    def _everything(self, name: str, seed: int) -> Sequence[Task]:
        if is_own(name):
            return self._file(name)
        source = Source(data=self.source.data, level=self.source.level, seed=seed)
        return find_benchmark(name.removeprefix(BENCHMARK)).tasks(source)

    def _file(self, name: str) -> Sequence[Task]:
        source = self.source
        data = self.folder / name
        return OWN.tasks(Source(data=data, scorer=source.scorer, known=source.known))


@cache
def _tasks(source: StreamSource, seed: int) -> ArenaTasks:
    drawn = source.drawn(seed)
    evolve = apart(drawn.evolve, drawn.test)
    if not evolve or not drawn.test:
        raise InputError("it has no task to learn from, or none to test on.")
    return ArenaTasks(evolve=evolve, test=[*drawn.test])
