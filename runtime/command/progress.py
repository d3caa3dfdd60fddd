"""Progress of a run on standard error: a live table on a terminal, plain lines elsewhere."""

from __future__ import annotations

import re
import sys
import time
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from ...schema.team.words import goes
from ...schema.values.secrets import scrubbed
from ...schema.values.terminal import counted, on_one_line
from ..showing.saying import about, event_text
from ..values.usage import tokens_of

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Mapping

    from rich.console import Console, ConsoleOptions, RenderResult
    from rich.live import Live
    from rich.measure import Measurement
    from rich.table import Table

    from ..plan.plan import Plan
    from ..record.trace import Event

STYLES = {
    "working": "yellow",
    "done": "green",
    "settled": "green",
    "left": "dim",
    "failed": "red",
    "skipped": "dim",
    "cancelled": "dim",
}
PER_SECOND = 8
SHOWN = 80
"""Width of the column for an agent's words or problems."""
LONGEST_NOTE = 1_000
"""Characters that are kept of a streamed answer: more than is ever shown."""
UNFINISHED = re.compile(r"[!-~]{0,200}\Z")
"""The last word so far, which may be incomplete: half a key cannot be recognised as a secret."""
PRINTED = frozenset(
    {
        "agent_finished", "agent_left", "agent_moved", "agent_retried", "answer_unread",
        "contributions", "cut_off", "message_posted", "model_retried", "parameter_adapted",
        "question_asked", "recruited", "roster_ended", "round_started", "rounds_ended",
    }
)  # fmt: skip
"""Types of events that print a line where there is no terminal."""
APPROVALS = frozenset({"approval_asked", "approval_given"})
"""Events that begin and end a question to a person; its `terminal` says whether it is asked
here."""


@contextmanager
def progress(
    plan: Plan, *, quiet: bool, scrub: Callable[[str], str] = scrubbed
) -> Generator[Callable[[Event], None]]:
    """Show the progress of a run during the block; yield a listener for the trace."""
    if quiet:
        yield lambda _event: None
        return
    click.echo(on_one_line(_heading(plan)), err=True)
    if not sys.stderr.isatty():
        yield _Lines(plan, scrub)
        return
    table = _Table(plan, scrub)
    with live(table.draw) as table.live:
        yield table


@contextmanager
def live(draw: Callable[[], Table]) -> Generator[Live]:
    """Show a table on the terminal during the block; its console prints above the table."""
    from rich.console import Console
    from rich.live import Live

    console = Console(stderr=True)
    with Live(console=console, refresh_per_second=PER_SECOND, get_renderable=draw) as shown:
        yield shown


def _heading(plan: Plan) -> str:
    """Return the heading: what runs, and which models answer."""
    planned = plan.agents.values()
    models = {agent.model.alias: agent.model for agent in planned if agent.model is not None}
    named = [
        f"{alias} = {model.model}{f' ({model.origin})' if model.origin else ''}"
        for alias, model in sorted(models.items())
    ]
    often = "".join(f", {goe}" for goe in goes(plan.team))
    return "; ".join([f"{plan.team.name}: {counted(len(plan.agents), 'agent')}{often}", *named])


class _Lines:
    """Prints one line for each event worth knowing.

    The reason why the run fails or agents are cancelled is printed at its end, so not here as well.
    """

    def __init__(self, plan: Plan, scrub: Callable[[str], str]) -> None:
        self._one_failure_ends_it = plan.team.execution.on_error == "fail"
        self._scrub = scrub

    def __call__(self, event: Event) -> None:
        if event.type not in PRINTED:
            return
        shown = self._scrub(on_one_line(event_text(event.type, self._fields(event))))
        if event.type != "round_started":
            shown = f"{about(event.agent, event.fields)}: {shown}"
        click.echo(f"{event.seconds:6.1f} s  {shown}", err=True)

    def _fields(self, event: Event) -> Mapping[str, Any]:
        """Return the fields of an event to print; of a model's failed attempt only its kind."""
        fields = event.fields
        match event.type:
            case "model_retried":
                return {**fields, "error": fields["kind"]}
            case "agent_finished" if self._one_failure_ends_it or fields["status"] == "cancelled":
                return {**fields, "error": None}
            case _:
                return fields


@dataclass(kw_only=True, slots=True)
class _AgentRow:
    """An agent's row of the table."""

    state: str = ""
    started: float = 0.0
    seconds: float = 0.0
    tokens: int = 0
    note: str = ""
    words: str = ""
    cut_off: str = ""

    def say(self, note: str) -> None:
        """Show a note in place of the model's words."""
        self.note, self.words = note, ""

    def hear(self, words: str) -> None:
        """Show a model's words in place of the note; only the last ones are kept."""
        self.note, self.words = "", (self.words + words)[-LONGEST_NOTE:]

    def clock(self) -> str:
        """Return how long the agent took, or has been working."""
        if self.state == "working":
            return f"{self.seconds + time.monotonic() - self.started:.1f}"
        return f"{self.seconds:.1f}" if self.state else ""


class _Table:
    """All agents of the plan, each with its state."""

    def __init__(self, plan: Plan, scrub: Callable[[str], str]) -> None:
        self._plan = plan
        self._scrub = scrub
        self._rows = {agent_id: _AgentRow() for agent_id in plan.agents}
        self._round = ""
        self.live: Live | None = None
        self._waiting = 0

    def __call__(self, event: Event) -> None:
        self._make_room(event)
        if event.type == "round_started":
            self._round = event_text(event.type, event.fields)
        if event.type == "message_posted":
            self._round = f"{event.fields['number']} posted"
        row = self._rows.get(event.agent or "")
        if row is None:
            return
        fields = event.fields
        match event.type:
            case "agent_started":
                row.state, row.started = "working", time.monotonic()
            case "model_call":
                row.words = ""
                row.tokens += tokens_of(fields["usage"])
            case (
                "agent_moved"
                | "agent_retried"
                | "answer_unread"
                | "model_retried"
                | "parameter_adapted"
                | "message_posted"
                | "question_asked"
            ):
                row.say(event_text(event.type, fields))
            case "cut_off":
                row.cut_off = event_text(event.type, fields)
                row.say(row.cut_off)
            case "agent_finished":
                row.state = fields["status"]
                row.seconds += fields["seconds"]
                row.say(fields["error"] or row.cut_off)
            case "agent_left":
                row.state = "left"
            case "agent_given" if isinstance(fields.get("round"), int):
                row.state = "settled"
            case _:
                pass

    def _make_room(self, event: Event) -> None:
        """Stop refreshing while a person is asked, who reads and types below the table."""
        if self.live is None or not (event.type in APPROVALS or event.fields.get("terminal")):
            return
        begins = event.type in {"approval_asked", "question_asked"}
        self._waiting += 1 if begins else -1
        if begins and self._waiting == 1:
            self.live.stop()
        elif not self._waiting:
            self.live.start()

    def hear(self, agent: str, words: str) -> None:
        """Add streamed words of an agent's model."""
        if (row := self._rows.get(agent)) is not None:
            row.hear(words)

    def draw(self) -> Table:
        """Draw the table."""
        from rich.table import Table
        from rich.text import Text

        table = Table(box=None, pad_edge=False, title=self._round or None, title_justify="left")
        for name in ("agent", "role", "state", "seconds", "tokens", ""):
            table.add_column(name, justify="right" if name in {"seconds", "tokens"} else "left")
        for agent_id, row in self._rows.items():
            table.add_row(
                # As `Text`: words in brackets would count as markup.
                Text(agent_id),
                Text(on_one_line(self._plan.agents[agent_id].agent.role)),
                Text(row.state, style=STYLES.get(row.state, "")),
                row.clock(),
                str(row.tokens or ""),
                _Tail(self._spoken(row.words))
                if row.words
                else Text(self._scrub(on_one_line(row.note))[:SHOWN], style="dim"),
            )
        return table

    def _spoken(self, words: str) -> str:
        """Remove secrets from streamed words, held back until a word is complete."""
        return self._scrub(on_one_line(UNFINISHED.sub("", words)))


@dataclass(frozen=True, slots=True)
class _Tail:
    """The end of a text, as far as there is room for it."""

    text: str

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        from rich.cells import cell_len
        from rich.measure import Measurement

        most = min(cell_len(self.text), SHOWN)
        return Measurement(min(1, most), most)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        from rich.cells import cell_len
        from rich.text import Text

        shown = self.text[-options.max_width :]
        while cell_len(shown) > options.max_width:
            shown = shown[1:]
        yield Text(shown, style="dim", no_wrap=True)
