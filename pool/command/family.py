"""`mas-pool lineage` and `origin`: the ancestry of teams."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict
from pathlib import Path

import click

from ...schema.command import Command, as_json
from ...schema.values.json_text import dumps
from ...schema.values.problems import quoted
from ...schema.values.terminal import on_one_line
from ..ledger.agents import PoolAgent
from ..ledger.records import TrialRecord
from ..teams.agent_blame import blame_agent
from ..teams.lineage import ancestors, blame, descendants
from ..teams.pool import Pool
from .arguments import open_pool, pool_folder
from .figures import lineage_value, made_by, named, score, statistics_value, table
from .learnt import origins_json, origins_table

LONGEST_EDITS = 100
"""Maximum characters of edits on a branch of the tree."""
BLAME = {"field": "<", "set in": "<", "by": "<", "which scored": "<", "value": "<"}
BLAME_AGENT = {"field": "<", "set in": "<", "by": "<", "operation": "<", "why": "<", "value": "<"}


@click.command("lineage", cls=Command)
@pool_folder
@click.argument("name", metavar="[NAME]", required=False)
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json", "mermaid"]),
    default="text",
    show_default=True,
    help="text: a tree. json: all fields, for programs. mermaid: a picture.",
)
def show_lineage(folder: Path, name: str | None, form: str) -> None:
    """Show how teams and agents descend from each other, with the edits on the branches.

    With NAME, shows only its ancestors and descendants. A child of two parents is shown below the
    first.
    """
    pool = open_pool(folder)
    family: Mapping[str, TrialRecord] = {**pool.teams, **pool.all_agents}
    if name:
        pool.find(name)
        family = {**ancestors(family, name), **descendants(family, name)}
    click.echo("\n".join(FORMS[form](family)))


@click.command("origin", cls=Command)
@pool_folder
@click.argument("name", metavar="NAME")
@as_json
def show_origin(folder: Path, name: str, as_json: bool) -> None:
    """Show for each field of a team which ancestor and operator set it, and the ancestor's score.

    For an agent: the revision or ancestor that set each field, the operation, and the reason. For
    an entry of the memory: its agent, case, turn and credit, and the same for each entry that it
    replaced.
    """
    pool = open_pool(folder)
    if (entry := pool.learnt.get(name)) is not None:
        text = dumps(origins_json(entry, pool), indent=2)
        click.echo(text if as_json else "\n".join(origins_table(entry, pool)))
        return
    if name in pool.all_agents:
        _origin_of_agent(pool, name, as_json=as_json)
        return
    pool.member(name)
    origins = blame(pool.teams, name)
    if as_json:
        text = [
            {**asdict(origin), "scored": statistics_value(pool.teams[origin.team].statistics)}
            for origin in origins
        ]
        click.echo(dumps(text, indent=2))
        return
    rows = [
        (
            origin.field,
            origin.team,
            origin.operator,
            score(pool.teams[origin.team].statistics),
            quoted(origin.value),
        )
        for origin in origins
    ]
    click.echo("\n".join(table(BLAME, rows)))


def _origin_of_agent(pool: Pool, name: str, *, as_json: bool) -> None:
    origins = blame_agent(pool.entries(), name)
    if as_json:
        click.echo(dumps([asdict(origin) for origin in origins], indent=2))
        return
    rows = [
        (
            origin.field,
            f"{origin.agent}, revision {origin.revision}" if origin.revision else origin.agent,
            origin.by,
            origin.op,
            origin.reason or "-",
            quoted(origin.value),
        )
        for origin in origins
    ]
    click.echo("\n".join(table(BLAME_AGENT, rows)))


def _as_text(teams: Mapping[str, TrialRecord]) -> Iterator[str]:
    children: dict[str | None, list[TrialRecord]] = {}
    for member in teams.values():
        first = next((parent for parent in member.lineage.parents if parent in teams), None)
        children.setdefault(first, []).append(member)
    waiting = [(root, "", "") for root in reversed(children.get(None, []))]
    while waiting:
        member, branch, margin = waiting.pop()
        yield f"{branch}{on_one_line(_describe(member))}"
        below = children.get(member.name, [])
        for child in reversed(below):
            is_last = child is below[-1]
            ends = ("└─ ", "   ") if is_last else ("├─ ", "│  ")
            waiting.append((child, margin + ends[0], margin + ends[1]))


def _describe(member: TrialRecord) -> str:
    has_origin = member.lineage.parents or isinstance(member, PoolAgent)
    branch = _branch(member) if has_origin else ""
    return " · ".join(filter(None, [named(member), score(member.statistics), branch]))


def _branch(member: TrialRecord) -> str:
    """Describe how a team was made from its parents."""
    others = member.lineage.parents[1:]
    crossed = f" with {' and '.join(others)}" if others else ""
    edits = "; ".join(member.lineage.edits)
    if len(edits) > LONGEST_EDITS:
        edits = f"{edits[:LONGEST_EDITS]} …"
    text = f"{made_by(member.lineage)}{crossed}"
    return f"{text}: {edits}" if edits else text


def _as_json(teams: Mapping[str, TrialRecord]) -> Iterator[str]:
    records = [
        {**lineage_value(team, _kind(team)), **statistics_value(team.statistics)}
        for team in teams.values()
    ]
    yield dumps(records, indent=2)


def _kind(record: TrialRecord) -> str:
    return "agent" if isinstance(record, PoolAgent) else "team"


def _as_mermaid(teams: Mapping[str, TrialRecord]) -> Iterator[str]:
    yield "flowchart LR"
    for member in teams.values():
        text = f"{_escaped(named(member))}<br/>{_escaped(score(member.statistics))}"
        yield f'    {_kind(member)}_{member.name}["{text}"]'
    for member in teams.values():
        for parent in member.lineage.parents:
            if parent in teams:
                edge = f'-- "{_escaped(_branch(member))}" -->'
                yield f"    {_kind(member)}_{parent} {edge} {_kind(member)}_{member.name}"


def _escaped(text: str) -> str:
    """Replace every special character by its number."""
    return re.sub(r"[^\w\s.,-]", lambda sign: f"#{ord(sign[0])};", on_one_line(text))


FORMS: Mapping[str, Callable[[Mapping[str, TrialRecord]], Iterator[str]]] = {
    "text": _as_text,
    "json": _as_json,
    "mermaid": _as_mermaid,
}
