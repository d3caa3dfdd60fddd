"""Answers in a benchmark's own format, so that its original evaluator can read them."""

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
    """One trial of an evaluation, and where it is to be written.

    Attributes:
        source: Where the benchmark's tasks came from.
        samples: One for each task that the trial was made of.
        log: Gives what the scorer kept of a sample; empty: nothing.
        name: The name to file it under.
        target: The file or folder to write.
    """

    source: Source
    samples: Sequence[Sample]
    log: Callable[[Sample], str]
    name: str
    target: Path


Exporter = Callable[[Answers], str]
"""Writes answers and says what it wrote, in a few words.

**Must** raise `InputError` for a target that it cannot write in its format, and leave nothing
behind then. **Must not** leave out a task of the trial without saying so.
"""
