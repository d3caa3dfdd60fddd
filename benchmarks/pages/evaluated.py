"""An evaluation for pages: its figures and its samples, read again after changes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from ...runtime.record.journal import FILE, is_held
from ...schema.team.team import natural
from ..command.evaluating import Evaluating
from ..command.viewing import loaded
from ..evaluation.results import RESULTS, SAMPLES, read_evaluation
from ..evaluation.samples import Sample

FILES = (RESULTS, SAMPLES, FILE)


@dataclass(frozen=True, kw_only=True)
class EvaluationFolder:
    """The folder of an evaluation."""

    folder: Path
    _read_state: list[Any] = field(default_factory=list[Any])

    @property
    def name(self) -> str:
        """The name of the folder."""
        return self.folder.resolve().name

    @property
    def is_at_work(self) -> bool:
        """Whether a process is working on it now."""
        return (self.folder / FILE).exists() and is_held(self.folder)

    @property
    def stamp(self) -> str:
        """A key that changes with its files."""
        paths = (self.folder / name for name in FILES)
        stats = (path.stat() if path.exists() else None for path in paths)
        return " ".join(
            "-" if stat is None else f"{stat.st_size}/{stat.st_mtime_ns}" for stat in stats
        )

    @property
    def figures(self) -> Mapping[str, Any]:
        """Its figures, as in results.json; for a killed evaluation, the figures so far."""
        return self._read[0]

    @property
    def samples(self) -> Sequence[Sample]:
        """Its samples by task and trial, including unscored ones."""
        return self._read[1]

    @cached_property
    def loaded(self) -> Evaluating:
        """Its inputs, to repeat its trials."""
        return loaded(self.folder)

    @property
    def status(self) -> str:
        """Its progress, in a word or two."""
        if self.is_at_work:
            return "under way"
        return "interrupted" if self.figures["missing"] else "done"

    @property
    def _read(self) -> tuple[Mapping[str, Any], Sequence[Sample]]:
        stamp = self.stamp
        if self._read_state[:1] != [stamp]:
            fields, samples = read_evaluation(self.folder)
            samples.sort(key=lambda sample: (natural(sample.task), sample.trial))
            self._read_state[:] = [stamp, (fields, samples)]
        return self._read_state[1]
