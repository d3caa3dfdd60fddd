"""How an evolution goes: on a terminal the tasks at work, and a line for each that is done."""

from __future__ import annotations

import sys
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import click

from ...runtime.command.progress import live
from ...runtime.showing import event_text
from ...runtime.values.terminal import clock, on_one_line, speakable
from ...runtime.values.usage import tokens_of

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Sequence

    from rich.console import Console
    from rich.table import Table

    from ...runtime.record.trace import Event
    from ...schema.team.task import Task

SHOWN = 80
"""Cells for what happens on a task."""


@dataclass(kw_only=True, slots=True)
class _TaskRow:
    """What is shown of a task at work."""

    began: float = field(default_factory=time.monotonic)
    calls: int = 0
    tokens: int = 0
    note: str = ""


@dataclass(kw_only=True, eq=False)
class Watch:
    """Shows an evolution as it goes.

    Attributes:
        scrub: Takes out what may not be shown.
        quiet: Show nothing.
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
        """Show what is at work while the block lasts, where there is a terminal."""
        if self.quiet or not sys.stderr.isatty():
            yield
            return
        with live(self.draw) as shown:
            self._console = shown.console
            yield
        self._console = None

    def say(self, text: str) -> None:
        """Say something, above what is at work."""
        if self.quiet:
            return
        if self._console is None:
            click.echo(speakable(text), err=True)
        else:
            self._console.print(speakable(text), markup=False, highlight=False, soft_wrap=True)

    def hear(self, number: int, event: Event) -> None:
        """Take in what happens on a task.

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
        """Say what the next task of the stream came to, and how long the rest may take."""
        self._rows.pop(self.count, None)
        self.count += 1
        self.say(f"{self.count:5} of {len(self.tasks)}  {text}{self._left()}")

    def _left(self) -> str:
        """Tell the time that is left, if the rest goes as what this process has done."""
        left = len(self.tasks) - self.count
        if not left:
            return ""
        each = (time.monotonic() - self._began) / (self.count - self._earlier)
        return f"  {clock(each * left)} left"

    def draw(self) -> Table:
        """Draw the tasks that are at work."""
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
