"""Baseline teams: with a benchmark's tools, or a vote at the same cost as another method."""

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
"""The backend whose agents use granted tools."""


def equipped(team: Team, tools: Sequence[str]) -> Team:
    """Grant tools to each agent of a team that can use them, in addition to its own.

    Raises:
        InputError: No agent can use them.
    """
    agents = {
        name: replace(agent, tools=(*agent.tools, *(t for t in tools if t not in agent.tools)))
        if team.backend_of(agent) == WITH_TOOLS
        else agent
        for name, agent in team.agents.items()
    }
    if agents == team.agents:
        raise InputError(f"{team.name}: no agent that lacks these tools can use tools.")
    return replace(team, agents=agents)


def vote_of(team: Team, k: int, *, temperature: float) -> Team:
    """Return a team of k copies of a team's only agent, with an exact vote on their answers.

    Without sampling, by a temperature above 0, all copies would give the same answer.

    Raises:
        InputError: The team has more than one agent.
    """
    if len(team.agents) != 1:
        raise InputError(f"{team.name} has {len(team.agents)} agents. A vote needs exactly one.")
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
    """Return the k at which k calls of one agent take as many tokens as another method.

    Args:
        team: Results of the other method, or the folder of an evolution.

    Raises:
        InputError: One of them holds neither, or consumed nothing.
    """
    value, wanted = tokens_each(single), tokens_each(team)
    if not value:
        raise InputError(f"{single}: it used no tokens, so there are none to match.")
    return max(1, round(wanted / value))


def tokens_each(folder: Path) -> float:
    """Return the tokens per trial of a task: those of runs, operators and judges."""
    if (folder / TURNS).exists():
        from ...operators.evolution.lines import lines_in
        from ...operators.report.report import EvolutionReport

        report = EvolutionReport.of(lines_in(folder))
        usage = sum(report.spending.values(), Usage())
        return usage.tokens / max(1, report.tasks)
    fields: dict[str, Any] = read_results(folder)
    return tokens_of(fields["usage"]) / max(1, fields["samples"] + fields["unscored"])
