"""A team's graph as JSON, for programs that draw or measure it themselves."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from ..json_text import dumps

if TYPE_CHECKING:
    from ..team import Team

__all__ = ["draw"]


def draw(team: Team) -> str:
    """Give a team's levels, agents, edges and output agent."""
    graph: dict[str, Any] = {
        "name": team.name,
        "output": team.output,
        "levels": team.levels,
        "agents": {agent_id: _agent(team, agent_id) for agent_id in team.agents},
        "edges": team.edges,
        **({"recruit": asdict(recruit)} if (recruit := team.execution.recruit) else {}),
        **({"rounds": asdict(rounds)} if (rounds := team.execution.rounds) else {}),
        **({"roster": asdict(roster)} if (roster := team.execution.roster) else {}),
    }
    return dumps(graph, indent=2, ensure_ascii=False) + "\n"


def _agent(team: Team, agent_id: str) -> dict[str, Any]:
    agent = team.agents[agent_id]
    return {
        "role": agent.role,
        "agent_type": agent.agent_type,
        "backend": team.backend_of(agent),
        "model_id": agent.model_id,
        "function": agent.function,
        "tools": agent.tools,
    }
