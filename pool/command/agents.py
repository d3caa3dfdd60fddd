"""`mas-pool agents` and `log`: the agents of a pool, and their history."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import click

from ...schema.command import Command, as_json
from ...schema.team.writing import agent_value
from ...schema.values.json_text import dumps
from ...schema.values.terminal import counted, on_one_line
from ..ledger.agents import PoolAgent, Revision
from ..teams.pool import Pool
from .arguments import open_pool, pool_folder
from .figures import lineage_value, made_by, named, origin_of, score, statistics_value, table

COLUMNS = {
    "agent": "<",
    "score": "<",
    "revisions": ">",
    "learnt": ">",
    "made by": "<",
    "of": "<",
    "role": "<",
}


@click.command("agents", cls=Command)
@pool_folder
@click.option("--all", "everyone", is_flag=True, help="Show retired agents, too.")
@as_json
def show_agents(folder: Path, everyone: bool, as_json: bool) -> None:
    """List the agents of a pool, and the mean scores of their teams.

    Counts the lessons that each agent learnt itself or received. mas-pool show and mas-pool memory
    --owner also show inherited ones.
    """
    pool = open_pool(folder)
    shown = list((pool.all_agents if everyone else pool.agents).values())
    if as_json:
        records = [{**agent_json(agent), "learnt": _learnt(agent, pool)} for agent in shown]
        click.echo(dumps({"agents": records}, indent=2))
        return
    retired = len(pool.all_agents) - len(pool.agents)
    text = f"{counted(len(pool.agents), 'agent')}; {retired} retired"
    click.echo("\n".join([*table(COLUMNS, [_row(agent, pool) for agent in shown]), "", text]))


@click.command("log", cls=Command)
@pool_folder
@click.argument("name", metavar="AGENT")
@as_json
def show_log(folder: Path, name: str, as_json: bool) -> None:
    """Show the history of an agent, revision by revision, with the reasons."""
    agent = open_pool(folder).agent(name)
    if as_json:
        records = [_revision(revision) for revision in agent.revisions]
        click.echo(dumps(records, indent=2))
        return
    for number, revision in enumerate(agent.revisions):
        what = "; ".join(revision.edits) or made_by(agent.lineage)
        texts = [f"{number}. {revision.op}", what, revision.reason]
        click.echo(on_one_line(" · ".join(filter(None, texts))))


def agent_json(agent: PoolAgent) -> dict[str, Any]:
    """Return an agent's data as plain values."""
    return {
        **lineage_value(agent, "agent"),
        **statistics_value(agent.statistics),
        "revisions": len(agent.revisions) - 1,
        "value": agent_value(agent.agent),
        "path": str(agent.path),
    }


def archive_json(agent: PoolAgent, pool: Pool) -> dict[str, Any]:
    """Count the entries of an agent's memory by kind, its own and others' by owner."""
    counts: dict[str, Any] = {"own": {}, "given": {}, "inherited": {}}
    for entry in pool.learnt.archive(agent.name):
        origin, giver = pool.learnt.origin(entry.id, agent.name), entry.giver
        if origin != agent.name:
            kinds = counts["inherited"].setdefault(origin, {})
        elif giver is not None and giver != agent.name:
            kinds = counts["given"].setdefault(giver, {})
        else:
            kinds = counts["own"]
        kinds[entry.kind] = kinds.get(entry.kind, 0) + 1
    return counts


def agent_facts(agent: PoolAgent, pool: Pool) -> Iterator[str]:
    """Yield an agent's data, line by line."""
    yield f"{agent.name}: {score(agent.statistics)}"
    facts = {
        "file": str(agent.path),
        "retired": agent.retired or "",
        "made by": origin_of(agent.lineage),
        "why": agent.lineage.reason,
        "role": agent.agent.role,
        "model": agent.agent.model_id,
        "tools": ", ".join(agent.agent.tools),
        "revised": counted(len(agent.revisions) - 1, "time"),
        "inherits": "" if not agent.inherits else f"from {' and '.join(agent.inherits)}",
    }
    yield from (f"  {name:<9} {on_one_line(text)}" for name, text in facts.items() if text)
    yield from (f"  archive   {on_one_line(text)}" for text in _archive(archive_json(agent, pool)))
    for niche, inside in agent.niches.items():
        yield f"  niche     {on_one_line(niche)}: {score(inside)}"


def _revision(revision: Revision) -> dict[str, Any]:
    fields = {"op": revision.op, "edits": revision.edits, "reason": revision.reason}
    return {**fields, "agent": agent_value(revision.agent)}


def _archive(counts: Mapping[str, Any]) -> Iterator[str]:
    """Yield the number of an agent's entries by kind and source."""
    if counts["own"]:
        yield f"its own: {_kinds(counts['own'])}"
    for giver, kinds in counts["given"].items():
        yield f"given by {giver}: {_kinds(kinds)}"
    for origin, kinds in counts["inherited"].items():
        yield f"inherited, of {origin}: {_kinds(kinds)}"


def _kinds(kinds: Mapping[str, int]) -> str:
    return ", ".join(counted(number, kind) for kind, number in kinds.items())


def _learnt(agent: PoolAgent, pool: Pool) -> int:
    """Count the current lessons that an agent learnt itself or was given."""
    own = pool.learnt.own(agent.name)
    return sum(pool.learnt.stands(entry.id, owner=agent.name) for entry in own)


def _row(agent: PoolAgent, pool: Pool) -> tuple[str, ...]:
    return (
        named(agent),
        score(agent.statistics),
        str(len(agent.revisions) - 1),
        str(_learnt(agent, pool)),
        made_by(agent.lineage),
        " and ".join(agent.lineage.parents) or "-",
        agent.agent.role or "-",
    )
