"""A team as a Mermaid flowchart, which many pages render as a picture."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..team.team import Team
from ..team.words import flows, goes, one_line, terms, works


def draw(team: Team) -> str:
    """Draw a team as a Mermaid flowchart."""
    return "\n".join(["flowchart LR", *(f"    {line}" for line in _lines(team)), ""])


def _lines(team: Team) -> Iterator[str]:
    order = [agent_id for level in team.levels for agent_id in level]
    rounds, roster = team.execution.rounds, team.execution.roster
    if rounds or roster:
        beside = {*team.opening, *rounds.closing, rounds.meeting} if rounds else set[str]()
        yield f'subgraph {"rounds" if rounds else "roster"}["{_escaped(", ".join(goes(team)))}"]'
        repeating = [name for name in order if name not in beside]
        yield from (f"    {_node(name)}{_label(team, name)}" for name in repeating)
        yield "end"
        order = [name for name in order if name in beside]
    yield from (f"{_node(name)}{_label(team, name)}" for name in order)
    for senders, receivers in flows(team).items():
        yield f"{' & '.join(map(_node, senders))} --> {' & '.join(map(_node, receivers))}"
    yield "classDef output stroke-width:3px"
    yield f"class {_node(team.output)} output"


def _node(agent_id: str) -> str:
    """Return a node name that is no word of the language, such as `end`."""
    return f"agent_{agent_id}"


def _label(team: Team, agent_id: str) -> str:
    agent = team.agents[agent_id]
    lines = (agent.role, works(team, agent), *terms(agent))
    text = "<br/>".join([f"<b>{agent_id}</b>", *(_escaped(line) for line in lines if line)])
    return f'["{text}"]'


def _escaped(text: str) -> str:
    """Replace every special character by its number."""
    return re.sub(r"[^\w\s.,·-]", lambda sign: f"#{ord(sign[0])};", one_line(text))
