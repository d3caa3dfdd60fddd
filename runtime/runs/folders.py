"""Folders of runs: list, measure, remove and archive them."""

from __future__ import annotations

import re
import shutil
import tarfile
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from ...schema.values import beneath
from ...schema.values.errors import InputError, StorageError
from ...schema.values.files import rename
from ...schema.values.problems import quoted
from ..record.journal import is_held
from .record import MANIFEST, read_result, read_value

UNDER_WAY, INTERRUPTED = "under way", "interrupted"
_AGE = re.compile(r"(\d+)([mhdw])")
_UNITS = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}


@dataclass(frozen=True, kw_only=True, slots=True)
class KeptRun:
    """The folder of a run.

    Attributes:
        status: `done`, `failed` or `interrupted`, from its result, or `under way`.
        score: Its score, in [0, 1]; None without one.
    """

    folder: Path
    started: datetime
    team: str
    status: str
    score: float | None
    calls: int
    cost: str
    size: int


def kept_runs(folders: Iterable[Path]) -> list[KeptRun]:
    """Return the runs in folders, the oldest first.

    Args:
        folders: Each is the folder of a run, or contains such folders. Other entries are ignored.
    """
    runs = [_run_in(path) for folder in folders for path in _runs_in(folder)]
    return sorted(runs, key=lambda run: (run.started, run.folder))


def age_of(text: str) -> timedelta:
    """Parse an age: `90m`, `12h`, `30d` or `4w`.

    Raises:
        InputError: The text is not an age.
    """
    if (match := _AGE.fullmatch(text)) is None or len(match[1]) > 6:
        raise InputError(f"invalid age {quoted(text)}. Write 90m, 12h, 30d or 4w.")
    return timedelta(**{_UNITS[match[2]]: int(match[1])})


def remove(run: KeptRun) -> None:
    """Delete the folder of a run, atomically for observers.

    Raises:
        StorageError: It cannot be deleted.
    """
    aside = run.folder.with_name(f".{run.folder.name}.deleted")
    try:
        rename(run.folder, aside)
        shutil.rmtree(aside)
    except OSError as error:
        raise StorageError(f"{run.folder}: cannot be deleted: {error.strerror}.") from error


def archive(runs: Sequence[KeptRun], target: Path) -> None:
    """Pack whole runs into a new file.

    Args:
        runs: The runs. No process should be at work on them.
        target: The file: a tar archive, compressed by gzip.

    Raises:
        InputError: The file already exists, or cannot be created.
    """
    with new_file(target) as part, tarfile.open(part, "w:gz") as packed:
        for run in runs:
            packed.add(run.folder, arcname=run.folder.resolve().name)


@contextmanager
def new_file(target: Path) -> Generator[Path]:
    """Yield a file to write, which gets its name if the block succeeds; refuse an existing name."""
    if target.exists():
        raise InputError(f"{target} already exists. Name another file.")
    part = target.with_name(f".{target.name}.part")
    try:
        yield part
        rename(part, target)
    except OSError as error:
        raise InputError(f"{target}: cannot be written: {error.strerror}.") from None
    finally:
        part.unlink(missing_ok=True)


def _runs_in(folder: Path) -> Iterator[Path]:
    if not folder.is_dir():
        raise InputError(f"{folder}: no such folder. Name a run's folder, or a folder of runs.")
    if (folder / MANIFEST).is_file():
        yield folder
        return
    yield from (path for path in sorted(folder.iterdir()) if (path / MANIFEST).is_file())


def _run_in(folder: Path) -> KeptRun:
    head, result = read_value(folder / MANIFEST), read_result(folder) or {}
    status = UNDER_WAY if is_held(folder) else result.get("status", INTERRUPTED)
    usage, score = result.get("usage", {}), result.get("score")
    return KeptRun(
        folder=folder,
        started=_moment(folder, head.get("started")),
        team=str(result.get("team", "")),
        status=status,
        score=score["value"] if score else None,
        calls=int(usage.get("calls", 0)),
        cost=str(usage.get("cost", "")),
        size=_size(folder),
    )


def _moment(folder: Path, text: object) -> datetime:
    try:
        moment = datetime.fromisoformat(str(text))
    except ValueError:
        return datetime.fromtimestamp(folder.stat().st_mtime, UTC)
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _size(folder: Path) -> int:
    files = (entry.path for entry in beneath.walk(folder) if entry.kind != "folder")
    return sum((folder / path).lstat().st_size for path in files)
