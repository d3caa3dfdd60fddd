"""The progress of an evaluation: completed trials, score, rate, remaining time, and cost."""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import click

from ...runtime.values.usage import Usage
from ...schema.values.terminal import clock, speakable

if TYPE_CHECKING:
    from ..evaluation.samples import Sample

SECONDS_BETWEEN_LINES = 10.0
PER_SECOND = 5


@dataclass(kw_only=True, eq=False)
class Progress:
    """Shows samples as they arrive: one live line on a terminal, a line now and then elsewhere.

    Attributes:
        earlier: The number of samples from an earlier process; they do not count in the rate.
    """

    total: int
    earlier: int = 0
    quiet: bool = False
    finished: int = 0
    unscored: int = 0
    score: float = 0.0
    usage: Usage = field(default_factory=Usage)
    started: float = field(default_factory=time.monotonic)
    shown: float = field(default_factory=time.monotonic)

    def __call__(self, sample: Sample) -> None:
        """Add a sample."""
        self.finished += 1
        self.usage += sample.usage
        if sample.score is None:
            self.unscored += 1
        else:
            self.score += sample.score
        now = time.monotonic()
        between = 1 / PER_SECOND if sys.stderr.isatty() else SECONDS_BETWEEN_LINES
        if not self.quiet and (now - self.shown >= between or self.finished == self.total):
            self.shown = now
            self._show(now)

    def _show(self, now: float) -> None:
        if sys.stderr.isatty():
            click.echo(f"\r\x1b[2K{self.line(now)}", nl=self.finished == self.total, err=True)
        else:
            click.echo(self.line(now), err=True)

    def say(self, text: str) -> None:
        """Print a line above the live one."""
        if not self.quiet:
            above = "\r\x1b[2K" if sys.stderr.isatty() else ""
            click.echo(f"{above}{speakable(text)}", err=True)

    def end(self) -> None:
        """Leave the live line on the screen."""
        if not self.quiet and sys.stderr.isatty() and 0 < self.finished < self.total:
            click.echo(err=True)

    def line(self, now: float) -> str:
        """Return a description of the progress.

        Args:
            now: The current time of `time.monotonic`.
        """
        scored = self.finished - self.unscored
        parts = [f"{self.finished:>6} of {self.total}"]
        if scored:
            parts.append(f"score {self.score / scored:.3f}")
        number, seconds = self.finished - self.earlier, now - self.started
        if number > 0 and seconds > 0:
            rate = number / seconds
            parts.append(f"{rate:.3g}/s")
            parts.append(f"{clock((self.total - self.finished) / rate)} left")
        parts.append(f"{self.usage.cost}, {self.usage.tokens} tokens")
        if self.unscored:
            parts.append(f"{self.unscored} unscored")
        return "  ".join(parts)
