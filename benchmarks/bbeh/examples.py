"""The tasks of BIG-Bench Extra Hard, read from its published files."""

from __future__ import annotations

import json
import lzma
import tarfile
from collections import defaultdict, deque
from typing import TYPE_CHECKING

from ...schema.team.task import ScorerChoice, Task
from ...schema.values.errors import InputError
from ...schema.values.problems import reason_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from ..evaluation.benchmark import Source

SUBTASKS = (
    "boardgame_qa",
    "boolean_expressions",
    "buggy_tables",
    "causal_understanding",
    "disambiguation_qa",
    "dyck_languages",
    "geometric_shapes",
    "hyperbaton",
    "linguini",
    "movie_recommendation",
    "multistep_arithmetic",
    "nycc",
    "object_counting",
    "object_properties",
    "sarc_triples",
    "shuffled_objects",
    "spatial_reasoning",
    "sportqa",
    "temporal_sequence",
    "time_arithmetic",
    "web_of_lies",
    "word_sorting",
    "zebra_puzzles",
)

SUFFIX = (
    "\n\nReason step by step. Then write one last line that begins with exactly"
    ' "The answer is:" and goes on with nothing but the answer, in the form that the question asks'
    ' for and in plain characters: no bold type, no LaTeX. Two examples: "The answer is: 17" and'
    ' "The answer is: no". Where exactly one of several lettered options is right, answer with its'
    ' letter only, as in "The answer is: (b)".'
)
"""The text after every question. Few models announce their answer in this form unless asked to."""

HOW_TO_GET = (
    "Clone https://github.com/google-deepmind/bbeh and name the clone's folder with --data."
)

FULL_NAMES = ("benchmark_tasks", "benchmark_tasks.tar.xz")
MINI_NAMES = ("mini.json", "mini/data.json")
_SCORER = ScorerChoice(name="bbeh")

_Example = tuple[str, str]
"""Input and target."""


def full_tasks(source: Source) -> list[Task]:
    """Return the tasks of all subtasks, in the order of `SUBTASKS` and of their files.

    A repeated example becomes two tasks, as in the original.

    Raises:
        InputError: The files are missing, incomplete or unreadable.
    """
    place = _find(source.data, FULL_NAMES)
    examples = {subtask: _parse(text, where) for subtask, text, where in _files(place)}
    missing = [name for name in SUBTASKS if name not in examples]
    if missing:
        raise InputError(
            f"{place}: no task.json of {', '.join(missing)}. A figure needs all {len(SUBTASKS)}"
            f" subtasks. {HOW_TO_GET}"
        )
    return [
        Task(
            id=f"{subtask}-{number}",
            query=question + SUFFIX,
            niche=subtask,
            answer=target,
            scorer=_SCORER,
        )
        for subtask in SUBTASKS
        for number, (question, target) in enumerate(examples[subtask])
    ]


def mini_tasks(source: Source) -> list[Task]:
    """Return the tasks of the mini set in its order. Each is a task of the full set, with its id.

    The file of the mini set does not have the subtasks of its examples; the full set does.

    Raises:
        InputError: The files of either set are missing or unreadable, or do not match.
    """
    place = _find(source.data, MINI_NAMES)
    tasks_by_example: defaultdict[_Example, deque[Task]] = defaultdict(deque)
    for task in full_tasks(source):
        tasks_by_example[task.query, task.answer].append(task)
    tasks: list[Task] = []
    for number, (question, target) in enumerate(_parse(_read(place), str(place))):
        same = tasks_by_example[question + SUFFIX, target]
        if not same:
            raise InputError(
                f"{place}: the full set has no more examples like number {number} (from 0), so its"
                f" subtask is unknown. The files have different versions. {HOW_TO_GET}"
            )
        tasks.append(same.popleft())
    return tasks


def _find(data: Path | None, names: Sequence[str]) -> Path:
    """Look in the folder itself, in a clone of the repository, and beside what else is there."""
    if data is None:
        raise InputError(f"BBEH's files are not part of this package. {HOW_TO_GET}")
    for folder in (data, data / "bbeh", data / "bbeh" / "bbeh"):
        for name in names:
            if (folder / name).exists():
                return folder / name
    needed = " (the mini set needs them to tell subtasks apart)" if names is FULL_NAMES else ""
    raise InputError(
        f"{data}: neither {' nor '.join(names)} is there{needed}, nor in bbeh/ or bbeh/bbeh/ below"
        f" it. {HOW_TO_GET}"
    )


def read_canary(source: Source) -> str:
    """Return the text that every copy of the data, and of answers with it, must contain.

    Raises:
        InputError: The files are missing or unreadable.
    """
    _, text, where = next(_files(_find(source.data, FULL_NAMES)))
    try:
        return str(json.loads(text)["canary"])
    except (ValueError, LookupError, TypeError):
        raise InputError(f"{where} has lost its canary string. {HOW_TO_GET}") from None


def _files(place: Path) -> Iterator[tuple[str, bytes, str]]:
    """Return each available file of a subtask, with its place for messages."""
    return _in_folder(place) if place.is_dir() else _in_archive(place)


def _in_folder(folder: Path) -> Iterator[tuple[str, bytes, str]]:
    for subtask in SUBTASKS:
        path = folder / f"bbeh_{subtask}" / "task.json"
        if path.exists():
            yield subtask, _read(path), str(path)


def _in_archive(path: Path) -> Iterator[tuple[str, bytes, str]]:
    """Read an archive once from start to end, without unpacking it."""
    wanted = {f"benchmark_tasks/bbeh_{subtask}/task.json": subtask for subtask in SUBTASKS}
    try:
        with tarfile.open(path, "r|xz") as archive:
            for member in archive:
                file = archive.extractfile(member) if member.name in wanted else None
                if file is not None:
                    yield wanted[member.name], file.read(), f"{path}: {member.name}"
    except (OSError, EOFError, tarfile.TarError, lzma.LZMAError) as error:
        raise InputError(
            f"{path} cannot be unpacked: {reason_of(error)}. Copy it again. {HOW_TO_GET}"
        ) from error


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise InputError(f"{path} cannot be read: {reason_of(error)}.") from error


def _parse(text: bytes, place: str) -> list[_Example]:
    try:
        return [
            (str(example["input"]), str(example["target"]))
            for example in json.loads(text)["examples"]
        ]
    except (ValueError, LookupError, TypeError) as error:
        raise InputError(
            f"{place} is not a file of BBEH, whose examples have an input and a target"
            f" ({type(error).__name__}: {error}). {HOW_TO_GET}"
        ) from error
