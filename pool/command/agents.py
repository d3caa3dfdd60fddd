"""`mas-pool agents` and `log`: the agents of a pool, and what they were."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from ...runtime.terminal import counted, on_one_line
from ...schema.command import Command
from ...schema.writing import agent_value
from .arguments import as_json, open_pool, pool_folder
from .figures import lineage_value, made_by, score, statistics_value, table

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from typing import Any

    from ..agents import PoolAgent

__all__ = ["agent_facts", "agent_json", "show_agents", "show_log"]

COLUMNS = {"agent": "<", "score": "<", "revisions": ">", "made by": "<", "role": "<"}


@click.command("agents", cls=Command)
@pool_folder
@click.option("--all", "everyone", is_flag=True, help="Show retired agents, too.")
@as_json
def show_agents(folder: Path, everyone: bool, as_json: bool) -> None:
    """List the agents of a pool, with what the teams that they worked in scored."""
    pool = open_pool(folder)
    shown = list((pool.all_agents if everyone else pool.agents).values())
    if as_json:
        click.echo(json.dumps({"agents": [agent_json(one) for one in shown]}, indent=2))
        return
    retired = len(pool.all_agents) - len(pool.agents)
    said = f"{counted(len(pool.agents), 'agent')}; {retired} retired"
    click.echo("\n".join([*table(COLUMNS, [_row(one) for one in shown]), "", said]))


@click.command("log", cls=Command)
@pool_folder
@click.argument("name", metavar="AGENT")
@as_json
def show_log(folder: Path, name: str, as_json: bool) -> None:
    """Show what became of an agent, revision by revision, with the reasons."""
    agent = open_pool(folder).agent(name)
    if as_json:
        told = [{**asdict(one), "agent": agent_value(one.agent)} for one in agent.revisions]
        click.echo(json.dumps(told, indent=2))
        return
    for number, one in enumerate(agent.revisions):
        what = "; ".join(one.edits) or made_by(agent.born)
        said = [f"{number}. {one.op}", what, one.reason]
        click.echo(on_one_line(" · ".join(filter(None, said))))


def agent_json(agent: PoolAgent) -> dict[str, Any]:
    """Give what is known of an agent as plain values."""
    return {
        **lineage_value(agent, "agent"),
        **statistics_value(agent.statistics),
        "revisions": len(agent.revisions) - 1,
        "value": agent_value(agent.agent),
        "path": str(agent.path),
    }


def agent_facts(agent: PoolAgent) -> Iterator[str]:
    """Say what is known of an agent, line by line."""
    yield f"{agent.name}: {score(agent.statistics)}"
    facts = {
        "file": str(agent.path),
        "retired": agent.retired or "",
        "made by": " of ".join(
            filter(None, [made_by(agent.born), " and ".join(agent.born.parents)])
        ),
        "why": agent.born.reason,
        "role": agent.agent.role,
        "revised": counted(len(agent.revisions) - 1, "time"),
    }
    yield from (f"  {name:<9} {on_one_line(text)}" for name, text in facts.items() if text)
    for niche, inside in agent.niches.items():
        yield f"  niche     {on_one_line(niche)}: {score(inside)}"


def _row(agent: PoolAgent) -> tuple[str, ...]:
    name = agent.name if agent.retired is None else f"{agent.name} (retired)"
    revisions = str(len(agent.revisions) - 1)
    return name, score(agent.statistics), revisions, made_by(agent.born), agent.agent.role or "-"
