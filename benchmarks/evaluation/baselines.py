"""Baselines that are teams: with a benchmark's tools, and a vote that costs what others cost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from ...pool.values.layout import TURNS
from ...runtime.values.usage import Usage, tokens_of
from ...schema.team.team import Agent, Team
from ...schema.values.errors import InputError
from .results import read_results

VOTE = "vote"
WITH_TOOLS = "smolagents"
"""The backend whose agents use tools that they are granted."""


def equipped(team: Team, tools: Sequence[str]) -> Team:
    """Grant tools to each agent of a team that can use any, beside those that it has.

    Raises:
        InputError: None of them can.
    """
    agents = {
        name: replace(agent, tools=(*agent.tools, *(t for t in tools if t not in agent.tools)))
        if team.backend_of(agent) == WITH_TOOLS
        else agent
        for name, agent in team.agents.items()
    }
    if agents == team.agents:
        raise InputError(f"{team.name}: no agent of it that lacks these tools can use any.")
    return replace(team, agents=agents)


def vote_of(team: Team, k: int, *, temperature: float) -> Team:
    """Make a team of k copies of a team's only agent, and an exact vote over what they say.

    Args:
        temperature: Theirs; copies that sample nothing would all say the same.

    Raises:
        InputError: The team has more agents than one.
    """
    if len(team.agents) != 1:
        raise InputError(f"{team.name} has {len(team.agents)} agents. A vote is over one, k times.")
    (single,) = team.agents.values()
    names = [f"{single.id}_{number}" for number in range(1, k + 1)]
    voters = {name: replace(single, id=name, temperature=temperature) for name in names}
    counting = Agent(id=VOTE, role="vote", agent_type="Function", function="majority")
    return replace(
        team,
        name=f"{team.name}_vote_{k}",
        description=f"{team.name}, asked {k} times; an exact vote decides.",
        agents={**voters, VOTE: counting},
        reports_to=dict.fromkeys(names, (VOTE,)),
        declared_output=VOTE,
        execution=replace(team.execution, on_error="degrade"),
    )


def matching(single: Path, team: Path) -> int:
    """Return the k at which asking one agent k times takes as many tokens as another method.

    Args:
        team: Results of the team method, or the folder of an evolution.

    Raises:
        InputError: One of them holds neither, or consumed nothing.
    """
    value, wanted = tokens_each(single), tokens_each(team)
    if not value:
        raise InputError(f"{single}: it consumed no tokens, so nothing can match them.")
    return max(1, round(wanted / value))


def tokens_each(folder: Path) -> float:
    """Return the tokens that one trial of one task took: those of runs, operators and judges."""
    if (folder / TURNS).exists():
        from ...operators.evolution.lines import lines_in
        from ...operators.report.report import EvolutionReport

        report = EvolutionReport.of(lines_in(folder))
        usage = sum(report.spending.values(), Usage())
        return usage.tokens / max(1, report.tasks)
    fields: dict[str, Any] = read_results(folder)
    return tokens_of(fields["usage"]) / max(1, fields["samples"] + fields["unscored"])
