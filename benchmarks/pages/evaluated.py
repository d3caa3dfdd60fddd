"""An evaluation as pages need it: its figures and its samples, read again where they changed."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ...runtime.journal import FILE, is_held
from ...schema.team import natural
from ..results import RESULTS, SAMPLES, read_results, read_samples, scored_samples

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from ..samples import Sample

__all__ = ["Evaluated"]

FILES = (RESULTS, SAMPLES, FILE, f"{FILE}-wal")


@dataclass(frozen=True, kw_only=True)
class Evaluated:
    """The folder of an evaluation.

    Attributes:
        folder: The folder.
    """

    folder: Path
    _known: dict[str, tuple[str, Any]] = field(default_factory=dict[str, "tuple[str, Any]"])

    @property
    def name(self) -> str:
        """What the folder is called."""
        return self.folder.resolve().name

    @property
    def is_at_work(self) -> bool:
        """Whether a process is at work on it now."""
        return (self.folder / FILE).exists() and is_held(self.folder)

    @property
    def stamp(self) -> str:
        """What changes with its files."""
        paths = (self.folder / name for name in FILES)
        stats = (path.stat() if path.exists() else None for path in paths)
        return " ".join("-" if one is None else f"{one.st_size}/{one.st_mtime_ns}" for one in stats)

    @property
    def told(self) -> Mapping[str, Any]:
        """Its figures, as results.json has them; of one that was killed, what there is.

        Raises:
            InputError: There are none, or they are not what the journal says.
        """
        return self._once("told", lambda: read_results(self.folder))

    @property
    def samples(self) -> Sequence[Sample]:
        """Its samples by task and trial, those that nobody could score among them.

        Raises:
            InputError: There are none, or a line is damaged.
        """
        return self._once("samples", self._samples)

    @property
    def status(self) -> str:
        """How far it is, in a word or two.

        Raises:
            InputError: As `told`.
        """
        if self.is_at_work:
            return "under way"
        return "interrupted" if self.told["missing"] else "done"

    def _samples(self) -> Sequence[Sample]:
        found = {(one.task, one.trial): one for one in scored_samples(self.folder)}
        if (self.folder / SAMPLES).exists():
            for one in read_samples(self.folder):
                found.setdefault((one.task, one.trial), one)
        return sorted(found.values(), key=lambda one: (natural(one.task), one.trial))

    def _once(self, name: str, make: Any) -> Any:
        stamp = self.stamp
        if self._known.get(name, ("", None))[0] != stamp:
            self._known[name] = (stamp, make())
        return self._known[name][1]
