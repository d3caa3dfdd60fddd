"""An open roster's run as a plain team file: the agents that worked, with their messages as edges.

A team's own order is `Team.levels`. Messages of an open roster may form cycles.
"""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import networkx as nx

    from ...schema.team.team import Team
    from ..agents.outcomes import Posted, Run

MESSAGE_KINDS = frozenset({"message", "answer", "start"})
Edge = tuple[str, str]


def team_that_was(team: Team, run: Run) -> Team | None:
    """Return the agents that worked in a run, and who wrote to whom, as a team without a roster.

    An edge means that a message was sent. Cycles are removed: the edges that lead by the shortest
    way to the agent that gave the answer stay, then the latest ones. An agent without such a way
    reports to the agent that started it.

    Args:
        team: The team, whose roster is open.

    Returns:
        The team; None if no agent worked.
    """
    worked = [agent for agent in team.agents if run.ending and run.ending.turns.get(agent)]
    lead = team.output
    output = run.answered_by or lead
    if output not in worked:
        return None
    edges = _message_edges(run.bus, worked, output)
    leading, mute = _to_the_output(edges, run.bus, worked, output)
    graph = _without_circles(leading, edges, worked)
    return replace(
        team,
        description=_described(team, run, mute),
        agents=MappingProxyType({name: team.agents[name] for name in worked}),
        reports_to=MappingProxyType(_by_sender(graph, worked)),
        declared_output=output,
        execution=replace(team.execution, roster=None),
        lineage=None,
    )


def _message_edges(bus: Sequence[Posted], worked: Sequence[str], output: str) -> list[Edge]:
    """Return who wrote to whom, the latest first; the agent with the answer reports to none."""
    edges = [
        (posted.sender, posted.to)
        for posted in reversed(bus)
        if posted.kind in MESSAGE_KINDS
        and posted.sender in worked
        and posted.to in worked
        and posted.sender != output
    ]
    return [*dict.fromkeys(edges)]


def _to_the_output(
    edges: Sequence[Edge], bus: Sequence[Posted], worked: Sequence[str], output: str
) -> tuple[list[Edge], list[str]]:
    """Return each agent's edge on the way to the output, and the agents without one."""
    import networkx as nx

    hears = _graph(((to, sender) for sender, to in edges), worked)
    way = dict(nx.bfs_predecessors(hears, output))
    starters = {posted.to: posted.sender for posted in reversed(bus) if posted.kind == "start"}
    mute = [name for name in worked if name not in {output, *way}]
    way |= {name: starters.get(name, output) for name in mute}
    return [*way.items()], mute


def _without_circles(
    leading: Sequence[Edge], edges: Sequence[Edge], worked: Sequence[str]
) -> nx.DiGraph[str]:
    """Keep the edges that lead to the output, and of the others those that close no cycle."""
    import networkx as nx

    graph = _graph(leading, worked)
    for sender, receiver in edges:
        if not nx.has_path(graph, receiver, sender):
            graph.add_edge(sender, receiver)
    return graph


def _graph(edges: Iterable[Edge], worked: Sequence[str]) -> nx.DiGraph[str]:
    import networkx as nx

    graph: nx.DiGraph[str] = nx.DiGraph()
    graph.add_nodes_from(worked)
    graph.add_edges_from(edges)
    return graph


def _by_sender(graph: nx.DiGraph[str], worked: Sequence[str]) -> Mapping[str, tuple[str, ...]]:
    sent = {name: tuple(to for to in worked if graph.has_edge(name, to)) for name in worked}
    return {name: receivers for name, receivers in sent.items() if receivers}


def _described(team: Team, run: Run, mute: Sequence[str]) -> str:
    """Return the team's description: its origin, edges without messages, and how the run ended."""
    why = run.ending.why if run.ending else ""
    sent = run.ending.sent if run.ending else 0
    texts = [f"Who worked in a run of {team.name}, and who told whom: {sent} messages, then {why}."]
    texts += [f"Nobody on the way to the answer heard {name}." for name in mute]
    return "\n".join(filter(None, (team.description.strip(), "", *texts)))
