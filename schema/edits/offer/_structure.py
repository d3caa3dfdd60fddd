"""Changes of the topology that make a valid team in any combination.

Every agent but the output must report to someone, the graph must have no cycle, and functions need
a report. Several edits may be combined freely, so their offer is narrower than the offer of one:

* new edges follow one order, Kahn's, in which no edge closes a cycle;
* one edge of every agent, and one to every function that needs reports, is never offered for
  removal, and neither is that edge's sender;
* a removed agent cuts nobody off, because `apply` connects its reporters to the next one
  downstream.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set

from ...host.catalogue import needs_reports
from ...team.team import Team, natural

Edge = tuple[str, str]
EdgesBySender = dict[str, set[str]]


def is_tied(team: Team) -> bool:
    """Return whether only the output agent has no receivers, and no pass depends on the graph.

    With the context `all`, agents may have no receivers. There only an agent's level counts, and
    one agent more or less may move others past the output. So such a team gets no offer of
    structural edits. A team whose passes depend on who hears whom gets none either.
    """
    hears = all(bool(team.reports_to.get(agent)) == (agent != team.output) for agent in team.agents)
    return hears and not is_arranged(team)


def is_arranged(team: Team) -> bool:
    """Return whether some agents have a part in a team's passes that depends on the graph.

    An open roster has no graph to change, and no agent's output is read as a report. An agent that
    works on a condition or on a list depends on the answer of an earlier agent.
    """
    rounds = team.execution.rounds
    if team.execution.roster is not None:
        return True
    waits = rounds is not None and rounds.until in {"finalized", "converged", "accepted"}
    has_terms = any(agent.is_conditional for agent in team.agents.values())
    return bool(waits or has_terms or team.opening)


def new_edges(team: Team, *, together: bool) -> EdgesBySender:
    """Return the edges to add: any one without a cycle, or, `together`, all along the order."""
    if together:
        order = [agent_id for level in team.levels for agent_id in level]
        later = {name: {*order[place + 1 :]} for place, name in enumerate(order)}
    else:
        ancestors = team.ancestors
        later = {agent: {*team.agents} - {agent, *ancestors[agent]} for agent in team.agents}
    return {agent: later[agent] - {*team.reports_to.get(agent, ())} for agent in team.agents}


def spare_edges(team: Team, *, together: bool) -> EdgesBySender:
    """Return the removable edges: any one that is not needed, or, `together`, all not held."""
    reporters = _reporters_of_functions(team)
    held = (
        _held(team, reporters)
        if together
        else {
            (reporter, receiver)
            for receiver, (reporter, *others) in reporters.items()
            if not others
        }
    )
    return {
        sender: {
            receiver
            for receiver in receivers
            if (sender, receiver) not in held and len(receivers) > 1
        }
        for sender, receivers in team.reports_to.items()
    }


def spare_agents(team: Team, *, together: bool) -> list[str]:
    """Return the agents to remove: not the output, and none that a function or the rounds need."""
    groups = [*_reporters_of_functions(team).values(), _in_rounds(team)]
    needed = {first for first, *others in filter(None, groups) if together or not others}
    return [agent for agent in team.agents if agent != team.output and agent not in needed]


def _held(team: Team, reporters: Mapping[str, tuple[str, ...]]) -> Set[Edge]:
    """Return edges that must stay: one to each function that needs it, then one of each agent."""
    held = {(first, receiver) for receiver, (first, *_) in reporters.items()}
    senders = {sender for sender, _ in held}
    for sender, receivers in team.reports_to.items():
        if sender not in senders and receivers:
            held.add((sender, min(receivers, key=natural)))
    return held


def _reporters_of_functions(team: Team) -> Mapping[str, tuple[str, ...]]:
    reporters = team.predecessors
    return {
        agent.id: reporters[agent.id]
        for agent in team.agents.values()
        if team.backend_of(agent) == "function"
        and agent.function is not None
        and reporters[agent.id]
        and needs_reports(agent.function)
    }


def _in_rounds(team: Team) -> Sequence[str]:
    """Return the agents that work in rounds before closing ones, of which one must stay."""
    rounds = team.execution.rounds
    closing = rounds.closing if rounds else ()
    return [agent for agent in team.agents if agent not in closing] if closing else ()
