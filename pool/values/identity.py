"""Whether two teams are the same: equal up to the names and the order of their agents.

A team's identity is a hash of its topology as a graph, whose nodes are agents without their names.
Equal teams have equal identities. The reverse fails only for graphs that colour refinement cannot
distinguish; `are_isomorphic` decides those.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, replace
from typing import Any

from ...schema.team.team import Team
from ...schema.team.writing import team_value
from ...schema.values.values import equal_numbers_alike

MOST_STEPS = 500
"""The maximum number of refinements in `are_isomorphic`. Teams of people or models need one."""

Pins = tuple[str, ...]
"""Agents with a colour of their own, in this order."""


def identity_of(team: Team) -> str:
    """Hash the executed parts of a team, except the names and the order of its agents.

    Fields that are never executed, such as the team's name and lineage, do not count.
    """
    graph = _graph(team)
    return _digest([graph.frame, sorted(_colours(graph).values())])


def are_isomorphic(first: Team, second: Team) -> bool:
    """Return whether renaming agents makes one team execute as the other.

    A search that takes too long, which only a graph made for the purpose causes, returns false.
    Then a team is evaluated twice, and nothing else is lost.
    """
    left, right = _graph(first), _graph(second)
    if left.frame != right.frame:
        return False
    untried: list[tuple[Pins, Pins]] = [((), ())]
    for _ in range(MOST_STEPS):
        if not untried:
            return False
        pins, others = untried.pop()
        colours, other_colours = _colours(left, pins), _colours(right, others)
        if Counter(colours.values()) != Counter(other_colours.values()):
            continue
        if _maps_edges(left, right, colours, other_colours):
            return True
        pin, candidates = _undecided(colours, other_colours)
        untried += [((*pins, pin), (*others, candidate)) for candidate in candidates]
    return False


@dataclass(frozen=True, kw_only=True, slots=True)
class _Graph:
    """A team as a graph.

    Attributes:
        frame: The fields of the team as a whole.
        labels: The fields of each agent, without its name.
    """

    frame: str
    labels: Mapping[str, str]
    edges: Set[tuple[str, str]]
    senders: Mapping[str, Sequence[str]]
    receivers: Mapping[str, Sequence[str]]


def _graph(team: Team) -> _Graph:
    agents = {
        name: replace(agent, notes=agent.notes.untaught) for name, agent in team.agents.items()
    }
    value = team_value(replace(team, agents=agents))
    output = team.output
    frame = {key: value.get(key) for key in ("backend", "constitution", "execution")}
    labels = {
        agent_id: [_executed(fields), agent_id == output]
        for agent_id, fields in value["agents"].items()
    }
    for agent in team.agents.values():
        # An agent that others' notes name is distinguished by its name.
        for colleague, _ in (*team.known_to(agent), *team.paired_with(agent)):
            labels[colleague][0]["id"] = colleague
    return _Graph(
        frame=_written(frame),
        labels={agent_id: _written(label) for agent_id, label in labels.items()},
        edges=frozenset(team.edges),
        senders=team.predecessors,
        receivers={agent_id: team.reports_to.get(agent_id, ()) for agent_id in team.agents},
    )


def _executed(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return an agent's executed fields, without its name in a pool."""
    record = {name: item for name, item in fields.items() if name != "member"}
    sets = {name: sorted(record[name]) for name in ("imports", "tools") if name in record}
    return {**record, "tools": [], **sets}


def _colours(graph: _Graph, pins: Pins = ()) -> Mapping[str, str]:
    """Refine colours until agents of one colour have neighbours of the same colours."""
    ranks = {agent_id: rank for rank, agent_id in enumerate(pins)}
    colours = {name: _digest([label, ranks.get(name)]) for name, label in graph.labels.items()}
    while True:
        refined = {
            name: _digest(
                [
                    colour,
                    sorted(colours[sender] for sender in graph.senders[name]),
                    sorted(colours[receiver] for receiver in graph.receivers[name]),
                ]
            )
            for name, colour in colours.items()
        }
        if len(set(refined.values())) == len(set(colours.values())):
            return refined
        colours = refined


def _maps_edges(
    left: _Graph, right: _Graph, colours: Mapping[str, str], others: Mapping[str, str]
) -> bool:
    """Pair agents of the same colour in any way, and return whether this maps edges to edges.

    If the agents of a colour are interchangeable, as workers mostly are, any pairing works.
    """
    ours, theirs = (sorted(by, key=by.__getitem__) for by in (colours, others))
    image = dict(zip(ours, theirs, strict=True))
    return {(image[u], image[v]) for u, v in left.edges} == right.edges


def _undecided(colours: Mapping[str, str], others: Mapping[str, str]) -> tuple[str, Sequence[str]]:
    """Return an agent that shares its colour with the fewest others, and its possible partners."""
    shared = Counter(colours.values())
    pin = min(colours, key=lambda text: (shared[colours[text]] == 1, shared[colours[text]]))
    return pin, [name for name, colour in others.items() if colour == colours[pin]]


def _written(value: Any) -> str:
    return json.dumps(equal_numbers_alike(value), sort_keys=True)


def _digest(value: Any) -> str:
    return hashlib.blake2b(json.dumps(value).encode(), digest_size=16).hexdigest()
