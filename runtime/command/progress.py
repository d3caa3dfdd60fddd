"""Progress of a run on standard error: a live table on a terminal, plain lines elsewhere."""

from __future__ import annotations

import sys
import time
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from ...schema.picture.caption import goes, span
from ...schema.secrets import scrubbed
from ..terminal import counted, on_one_line

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from rich.table import Table

    from ..plan import Plan
    from ..trace import Event

__all__ = ["progress"]

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
LONGEST = 200
"""Characters that are shown of what agents write to each other."""
SENT = {"message": "to", "answer": "answers", "start": "starts", "stop": "stops"}
"""What agents of an open roster do to each other, in words."""


@contextmanager
def progress(
    plan: Plan, *, quiet: bool, scrub: Callable[[str], str] = scrubbed
) -> Generator[Callable[[Event], None]]:
    """Show how a run goes while the block lasts; the block gets what listens to the trace.

    Args:
        plan: What runs.
        quiet: Show nothing.
        scrub: Takes out what may not be shown.
    """
    if quiet:
        yield lambda _event: None
        return
    click.echo(on_one_line(_heading(plan)), err=True)
    if not sys.stderr.isatty():
        yield _Lines(scrub)
        return
    from rich.console import Console
    from rich.live import Live

    table = _Table(plan, scrub)
    console = Console(stderr=True)
    with Live(console=console, refresh_per_second=PER_SECOND, get_renderable=table.draw):
        yield table


def _heading(plan: Plan) -> str:
    """Say what runs and which models answer."""
    planned = plan.agents.values()
    models = {one.model.alias: one.model for one in planned if one.model is not None}
    named = [
        f"{alias} = {model.model}{f' ({model.origin})' if model.origin else ''}"
        for alias, model in sorted(models.items())
    ]
    often = "".join(f", {said}" for said in goes(plan.team))
    return "; ".join([f"{plan.team.name}: {counted(len(plan.agents), 'agent')}{often}", *named])


class _Lines:
    """One line for each thing worth knowing."""

    def __init__(self, scrub: Callable[[str], str]) -> None:
        self._scrub = scrub

    def __call__(self, event: Event) -> None:
        match event.type:
            case "round_started":
                click.echo(f"{event.seconds:6.1f} s  {_round(event.fields)}", err=True)
                return
            case "agent_finished":
                text = _finished(event.fields)
            case "agent_retried" | "model_retried":
                text = f"again: {event.fields['error']}"
            case "recruited":
                text = f"recruited {span(event.fields['agents'])}"
            case "contributions":
                text = f"score {event.fields['score']:g} by the judge"
            case "message_posted":
                text = _posted(event.fields)
            case "agent_left":
                text = "is active no more"
            case "roster_ended":
                text = f"{_ended(event.fields)}, {event.fields['why']}"
            case "rounds_ended":
                text = f"ended, {event.fields['why']}; round {event.fields['answer_of']} answers"
            case _:
                return
        shown = self._scrub(on_one_line(text))
        whom = event.agent or _whom(event.fields)
        click.echo(f"{event.seconds:6.1f} s  {whom}: {shown}", err=True)


def _whom(fields: Any) -> str:
    """Name what an event is about that is about no agent."""
    number = fields.get("round", fields.get("rounds"))
    return "the team" if number is None else f"round {number}"


def _posted(fields: Any) -> str:
    """Say what an agent of an open roster did to another: `starts coder: write the test`."""
    does = SENT.get(fields["kind"], f"{fields['kind']},")
    said = f": {fields['text']}" if fields["text"] else ""
    return f"{does} {fields['to'] or 'all'}{said}"[:LONGEST]


def _ended(fields: Any) -> str:
    return f"ended after {counted(fields['sent'], 'message')}"


def _round(fields: Any) -> str:
    """Name a pass, and those who are not asked in a round; in other passes that goes without."""
    number, settled = fields["round"], fields["given"]
    if isinstance(number, int):
        return f"round {number}" + (f", not asked: {span(settled)}" if settled else "")
    places = {"opening": "ahead of all others", "closing": "after the rounds"}
    return places.get(number, f"{number}")


def _finished(fields: Any) -> str:
    usage = fields["usage"]
    tokens = usage["prompt_tokens"] + usage["completion_tokens"]
    text = f"{fields['status']}, {fields['seconds']:.1f} s, {tokens} tokens"
    return f"{text}: {fields['error']}" if fields["error"] else text


@dataclass(kw_only=True, slots=True)
class _Row:
    """What the table shows of one agent."""

    state: str = ""
    started: float = 0.0
    seconds: float = 0.0
    tokens: int = 0
    note: str = ""

    def clock(self) -> str:
        """Show how long the agent took, or has been at work."""
        if self.state == "working":
            return f"{time.monotonic() - self.started:.1f}"
        return f"{self.seconds:.1f}" if self.state else ""


class _Table:
    """All agents of the plan, each with its state."""

    def __init__(self, plan: Plan, scrub: Callable[[str], str]) -> None:
        self._plan = plan
        self._scrub = scrub
        self._rows = {agent_id: _Row() for agent_id in plan.agents}
        self._round = ""

    def __call__(self, event: Event) -> None:
        if event.type == "round_started":
            self._round = _round(event.fields)
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
                row.tokens += (
                    fields["usage"]["prompt_tokens"] + fields["usage"]["completion_tokens"]
                )
            case "agent_retried" | "model_retried":
                row.note = f"again: {fields['error']}"
            case "agent_finished":
                row.state, row.seconds = fields["status"], fields["seconds"]
                row.note = fields["error"] or ""
            case "message_posted":
                row.note = _posted(fields)
            case "agent_left":
                row.state = "left"
            case "agent_given" if isinstance(fields.get("round"), int):
                row.state = "settled"
            case _:
                pass

    def draw(self) -> Table:
        """Draw the table as it is now."""
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
                Text(self._scrub(on_one_line(row.note))[:80], style="dim"),
            )
        return table
