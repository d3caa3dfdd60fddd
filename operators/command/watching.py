"""The progress of an evolution: its current tasks, and a line for each finished one."""

from __future__ import annotations

import sys
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import click

from ...runtime.command.progress import live
from ...runtime.showing.saying import event_text
from ...runtime.values.usage import tokens_of
from ...schema.values.terminal import clock, on_one_line, speakable

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Sequence

    from rich.console import Console
    from rich.table import Table

    from ...runtime.record.trace import Event
    from ...schema.team.task import Task

SHOWN = 80
"""The most cells for the current event of a task."""


@dataclass(kw_only=True, slots=True)
class _TaskRow:
    began: float = field(default_factory=time.monotonic)
    calls: int = 0
    tokens: int = 0
    note: str = ""


@dataclass(kw_only=True, eq=False)
class Watch:
    """Shows the progress of an evolution.

    Attributes:
        scrub: Removes what may not be shown.
    """

    tasks: Sequence[Task]
    count: int
    scrub: Callable[[str], str]
    quiet: bool = False
    _earlier: int = field(init=False)
    _began: float = field(default_factory=time.monotonic)
    _rows: dict[int, _TaskRow] = field(default_factory=dict[int, _TaskRow])
    _console: Console | None = None

    def __post_init__(self) -> None:
        self._earlier = self.count

    @contextmanager
    def shown(self) -> Generator[None]:
        """Show the current tasks on a terminal, within the block."""
        if self.quiet or not sys.stderr.isatty():
            yield
            return
        with live(self.draw) as shown:
            self._console = shown.console
            yield
        self._console = None

    def say(self, text: str) -> None:
        """Print a text, above the current tasks."""
        if self.quiet:
            return
        if self._console is None:
            click.echo(speakable(text), err=True)
        else:
            self._console.print(speakable(text), markup=False, highlight=False, soft_wrap=True)

    def hear(self, number: int, event: Event) -> None:
        """Add an event of a task.

        Args:
            number: The task's place in the stream.
        """
        row = self._rows.setdefault(number, _TaskRow())
        if event.type == "model_call":
            row.calls += 1
            row.tokens += tokens_of(event.fields["usage"])
        if text := event_text(event.type, event.fields):
            whom = (event.fields.get("run"), event.agent or event.fields.get("operator"))
            row.note = ": ".join([*(str(item) for item in whom if item), text])
        if event.type in {"answer_unread", "question_asked"}:
            self.say(self.scrub(on_one_line(row.note)))

    def finished(self, text: str) -> None:
        """Print the result of the next task of the stream, and the estimated remaining time."""
        self._rows.pop(self.count, None)
        self.count += 1
        self.say(f"{self.count:5} of {len(self.tasks)}  {text}{self._left()}")

    def _left(self) -> str:
        """Return the estimated remaining time, at the average pace of this process."""
        left = len(self.tasks) - self.count
        if not left:
            return ""
        each = (time.monotonic() - self._began) / (self.count - self._earlier)
        return f"  {clock(each * left)} left"

    def draw(self) -> Table:
        """Return the table of current tasks."""
        from rich.table import Table
        from rich.text import Text

        table = Table(box=None, pad_edge=False)
        for name in ("task", "seconds", "calls", "tokens", ""):
            table.add_column(name, justify="left" if name in {"task", ""} else "right")
        for number, row in sorted(self._rows.items()):
            table.add_row(
                Text(on_one_line(self.tasks[number].id)),
                f"{time.monotonic() - row.began:.1f}",
                str(row.calls),
                str(row.tokens),
                Text(self.scrub(on_one_line(row.note))[:SHOWN], style="dim"),
            )
        return table
