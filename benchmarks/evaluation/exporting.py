"""Answers in a benchmark's own format, for its original evaluator."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from .benchmark import Source
    from .samples import Sample


@dataclass(frozen=True, kw_only=True, slots=True)
class Answers:
    """One trial of an evaluation, and the target to write.

    Attributes:
        samples: One for each task of the trial.
        log: Returns the scorer's log of a sample; empty without one.
        name: The name of the submission.
        target: The file or folder to write.
    """

    source: Source
    samples: Sequence[Sample]
    log: Callable[[Sample], str]
    name: str
    target: Path


Exporter = Callable[[Answers], str]
"""Writes answers and returns a short description of the output.

**Must** raise `InputError` for a target that it cannot write in its format, and leave nothing
behind then. **Must not** silently leave out a task of the trial."""
