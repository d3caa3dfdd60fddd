"""The nodes of a team with rounds: one for each time that an agent works."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..plan.plan import Plan


@dataclass(frozen=True, kw_only=True, slots=True)
class Node:
    """One time that an agent works.

    Attributes:
        name: The name of the node: the agent's, with the round after the first.
        after: The nodes that must be done before it begins.
        reads: The nodes of the colleagues whose reports it reads, in order.
        round: Its round; 0 for agents that work once.
        before: The node of the agent's own work in the round before; empty in the first.
        answers: The nodes of the round before of the agents to which it reports.
    """

    name: str
    agent: str
    after: tuple[str, ...]
    reads: tuple[str, ...]
    round: int = 0
    before: str = ""
    answers: tuple[str, ...] = ()


def unrolled(plan: Plan) -> tuple[Node, ...]:
    """Return the nodes of a plan, each after those that it reads. Closing agents come last."""
    rounds = plan.team.execution.rounds
    if rounds is None:
        return tuple(_node(plan, agent, {}) for agent in plan.agents)
    opening, closing = plan.team.opening, frozenset(rounds.closing)
    repeating = [agent for agent in plan.agents if agent not in opening | closing]
    last: dict[str, str] = {}  # the node of each agent in the round before
    nodes = [_node(plan, agent, last) for agent in plan.agents if agent in opening]
    for number in range(1, rounds.most + 1):
        nodes += _round(plan, repeating, number, last)
        last = {agent: _name(agent, number) for agent in repeating}
    for agent in plan.agents:
        if agent in closing:
            nodes.append(_node(plan, agent, last))
    return tuple(nodes)


def _name(agent: str, number: int) -> str:
    return agent if number == 1 else f"{agent}-{number}"  # no agent has a name with a hyphen


def _round(plan: Plan, repeating: list[str], number: int, last: dict[str, str]) -> Iterator[Node]:
    names = {agent: _name(agent, number) for agent in repeating}
    for agent in repeating:
        inputs = tuple(names.get(source, source) for source in plan.team.direct_inputs[agent])
        within = any(source in names for source in plan.team.direct_inputs[agent])
        receivers = plan.team.reports_to.get(agent, ())
        yield Node(
            name=names[agent],
            agent=agent,
            after=inputs if within or not last else tuple(last.values()),
            reads=tuple(names.get(source, source) for source in plan.agents[agent].sees),
            round=number,
            before=last.get(agent, ""),
            answers=tuple(
                last[receiver] for receiver in repeating if last and receiver in receivers
            ),
        )


def _node(plan: Plan, agent: str, last: dict[str, str]) -> Node:
    return Node(
        name=agent,
        agent=agent,
        after=tuple(last.get(source, source) for source in plan.team.direct_inputs[agent]),
        reads=tuple(last.get(source, source) for source in plan.agents[agent].sees),
    )
