"""Merges shards of an evaluation, made on any machines.

The shards' journals use the same paths as a single process would. So their union is the journal of
the whole, and every figure is computed from it again.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ...runtime.record.journal import merge
from ...runtime.record.trace import ARTIFACTS, RunFolder
from ...runtime.runs.record import MANIFEST, as_json, read_value
from ...schema.host.catalogue import Catalogue
from ...schema.team.task import Task
from ...schema.values.codec import to_value
from ...schema.values.errors import InputError, StorageError
from ...schema.values.part import Part
from ...schema.values.problems import quoted
from ..evaluation.benchmark import find_benchmark
from ..evaluation.logs import LOGS
from ..evaluation.provenance import digest_of
from ..evaluation.results import SAMPLES, Results, read_samples, scored_samples
from ..evaluation.samples import Sample

TEAM_FILE = "team.yaml"
ALIKE = ("team", "content_hash", "models", "seed")
"""The fields of shards' heads that must be equal. Each shard's machine is recorded separately."""
OF_SHARD = ("command", "endpoints", "versions", "host")
MOST_NAMED = 10
"""The maximum number of missing shards that a message names."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ShardMerge:
    """All shards of one evaluation."""

    shards: Sequence[Results]
    tasks: Sequence[Task]

    @classmethod
    def of(
        cls, folders: Sequence[Path], *, scrub: Callable[[str], str], catalogue: Catalogue
    ) -> ShardMerge:
        """Check that folders are all shards of one evaluation.

        Args:
            catalogue: The names that the user's own tasks may use.

        Raises:
            InputError: A folder is no shard, a shard is missing or repeated, they are of different
                evaluations, or the benchmark has other tasks here.
        """
        by_place: dict[int, Results] = {}
        for folder in folders:
            results = Results.open(folder, scrub=scrub)
            shard = _shard(results)
            if (earlier := by_place.get(shard.which)) is not None:
                raise InputError(f"{folder} and {earlier.folder.path} are both shard {shard}.")
            by_place[shard.which] = results
        shards = [by_place[which] for which in sorted(by_place)]
        for item in shards[1:]:
            _check_alike(shards[0], item)
        of = _shard(shards[0]).of
        if missing := sorted(set(range(1, of + 1)) - set(by_place)):
            some = ", ".join(f"{which}/{of}" for which in missing[:MOST_NAMED])
            more = ", and more" if len(missing) > MOST_NAMED else ""
            raise InputError(f"shards are missing: {some}{more}.")
        tasks = shards[0].request.unsharded.having(catalogue).tasks()
        for item in shards:
            if digest_of(_shard(item).take(tasks)) != item.head.get("data"):
                raise InputError(
                    f"{item.folder.path}: made with other tasks than {item.request.benchmark} has"
                    " here. Name the shards' tasks with --data."
                )
        return cls(shards=shards, tasks=tasks)

    def into(self, folder: RunFolder, *, command: Sequence[str]) -> None:
        """Write the evaluation. Its manifest comes last: without one, a folder is no evaluation.

        Args:
            folder: An empty folder.
            command: The words of the user's command.
        """
        first, paths = self.shards[0], [shard.folder.path for shard in self.shards]
        for path in paths:
            for name in (LOGS, ARTIFACTS):
                _copy(path / name, folder.path / name)
        if (team := paths[0] / TEAM_FILE).exists():
            _copy(team, folder.path / TEAM_FILE)
        merge(paths, folder.path)
        request = first.request.unsharded
        expected = len(self.tasks) * request.trials
        head = {name: item for name, item in first.head.items() if name not in OF_SHARD}
        head |= {
            "command": " ".join(command),
            "data": digest_of(self.tasks),
            "expected": expected,
            "shards": [_origin(shard) for shard in self.shards],
        }
        fields = {**read_value(paths[0] / MANIFEST), "evaluation": to_value(request), "head": head}
        folder.write(MANIFEST, as_json(fields))
        results = Results(folder=folder, request=request, head=head, tasks=self.tasks)
        benchmark = find_benchmark(request.benchmark)
        results.write(self._samples(), benchmark, expected=expected)

    def _samples(self) -> Iterator[Sample]:
        """Yield the samples of all shards in the order of the whole."""
        table: dict[tuple[str, int], Sample] = {}
        for shard in self.shards:
            path = shard.folder.path
            unscored = read_samples(path) if (path / SAMPLES).exists() else ()
            table |= {(each.task, each.trial): each for each in unscored if each.score is None}
            table |= {(each.task, each.trial): each for each in scored_samples(path)}
        for trial in range(1, self.shards[0].request.trials + 1):
            for task in self.tasks:
                if (sample := table.get((task.id, trial))) is not None:
                    yield sample


def _shard(results: Results) -> Part:
    if results.request.choice.shard is None:
        raise InputError(f"{results.folder.path}: not a shard; it was made without --shard.")
    return results.request.choice.shard


def _check_alike(first: Results, second: Results) -> None:
    """Raise an error if two shards are not of one evaluation."""
    here, there = _subject(first), _subject(second)
    for name in (*here, *there):
        if here.get(name) != there.get(name):
            raise InputError(
                f"{second.folder.path} and {first.folder.path} are of different evaluations:"
                f" {name} is {quoted(there.get(name))} and {quoted(here.get(name))}."
            )


def _subject(results: Results) -> dict[str, Any]:
    """Return the common fields of shards: team and tasks, without shard numbers and paths."""
    value = to_value(results.request)
    choice = {**asdict(results.request.choice), "shard": f"one of {_shard(results).of}"}
    source = {name: item for name, item in value["source"].items() if name != "data"}
    fields = {name: results.head.get(name) for name in ALIKE}
    return {
        **fields,
        "benchmark": value["benchmark"],
        "trials": value["trials"],
        **source,
        **choice,
    }


def _origin(results: Results) -> dict[str, Any]:
    fields = {name: results.head[name] for name in OF_SHARD if name in results.head}
    return {"shard": str(_shard(results)), "folder": results.folder.path.name, **fields}


def _copy(source: Path, target: Path) -> None:
    """Copy a file or a folder, if present, into the merged folder."""
    try:
        if source.is_dir():
            shutil.copytree(source, target, dirs_exist_ok=True, symlinks=True)
        elif source.exists():
            shutil.copyfile(source, target, follow_symlinks=False)
    except (OSError, shutil.Error) as error:
        raise StorageError(f"{source}: cannot be copied to {target}: {error}.") from None
