"""A team as a table for the terminal: one row for like agents, level by level."""

from __future__ import annotations

import io
import re
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from ..team.words import duty, engine, model, one_line, span, terms, totals

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from rich.table import Table

    from ..team.team import Agent, Team

WIDTH = 100
GAP = 3
NAMES = ("level", "agents", "role", "works as", "model", "reports to", "state")
OUTPUT = "★ the answer"
NO_STATES: Mapping[str, str] = MappingProxyType({})


class AgentRow(NamedTuple):
    """The cells of a row of like agents, in the order of the columns."""

    level: str
    agents: str
    role: str
    works_as: str
    model: str
    reports_to: str
    state: str


def draw(team: Team, states: Mapping[str, str] = NO_STATES) -> str:
    """Draw a team as text of at most 100 columns.

    Args:
        states: The states of agents in a run, by id.
    """
    from rich.console import Console

    stream = io.StringIO()
    console = Console(
        file=stream, width=WIDTH, markup=False, highlight=False, emoji=False, color_system=None
    )
    console.print(f"{team.name} · {totals(team)}")
    console.print(one_line(team.description), end="\n\n" if team.description else "\n")
    console.print(_table(list(_rows(team, states))))
    if tools := list(_tools(team)):
        console.print("", *tools, sep="\n")
    return "".join(f"{line.rstrip()}\n" for line in stream.getvalue().splitlines())


def _rows(team: Team, states: Mapping[str, str]) -> Iterator[AgentRow]:
    output = team.output
    for number, level in enumerate(team.levels, 1):
        alike: dict[tuple[object, ...], list[Agent]] = {}
        for agent in map(team.agents.__getitem__, level):
            likeness = _likeness(team, agent, agent.id == output), states.get(agent.id)
            alike.setdefault(likeness, []).append(agent)
        for place, agents in enumerate(alike.values()):
            ids, first = [agent.id for agent in agents], agents[0]
            yield AgentRow(
                level="" if place else str(number),
                agents=span(ids),
                role=span({one_line(agent.role) for agent in agents}),
                works_as=_works_as(team, first),
                model=model(team, first),
                reports_to=OUTPUT if first.id == output else _reports_to(team, ids),
                state=states.get(first.id, ""),
            )


def _likeness(team: Team, agent: Agent, is_output: bool) -> tuple[object, ...]:
    """Return the key that agents in one row share; their roles may have the agents' numbers."""
    role = re.sub(r"\d+", "0", one_line(agent.role))
    receivers = frozenset(team.reports_to.get(agent.id, ()))
    return role, _works_as(team, agent), model(team, agent), receivers, is_output


def _works_as(team: Team, agent: Agent) -> str:
    return ", ".join(filter(None, (engine(team, agent), duty(team, agent), *terms(agent))))


def _reports_to(team: Team, senders: Sequence[str]) -> str:
    receivers = team.reports_to.get(senders[0], ())
    each = "each to all of " if len(senders) > 1 and len(receivers) > 1 else ""
    return each + span(receivers)


def _table(rows: Sequence[AgentRow]) -> Table:
    from rich.table import Table

    table = Table(box=None, padding=(0, GAP, 0, 0), pad_edge=False)
    used = [index for index, _ in enumerate(NAMES) if any(row[index] for row in rows)]
    columns = [(NAMES[index], *(row[index] for row in rows)) for index in used]
    for (name, *_), width in zip(columns, _widths(columns), strict=True):
        table.add_column(name, overflow="fold", width=width)
    for row in rows:
        table.add_row(*(row[index] for index in used))
    return table


def _widths(columns: Sequence[Sequence[str]]) -> list[int]:
    """Return the column widths; while the table is too wide, the widest column shrinks.

    A column first breaks lines between words, and only then within words.
    """
    from rich.cells import cell_len

    widths = [max(map(cell_len, column)) for column in columns]
    words = [max(cell_len(word) for cell in column for word in cell.split()) for column in columns]
    while sum(widths) > WIDTH - GAP * (len(columns) - 1):
        _, _, widest = max((w > words[i], w, i) for i, w in enumerate(widths))
        widths[widest] -= 1
    return widths


def _tools(team: Team) -> Iterator[str]:
    """Yield one line for each set of tools, with its agents."""
    granted: dict[tuple[str, ...], list[str]] = {}
    for agent in team.agents.values():
        if agent.tools:
            granted.setdefault(tuple(sorted(agent.tools)), []).append(agent.id)
    for tools, ids in granted.items():
        yield f"tools of {span(ids)}: {', '.join(tools)}"
