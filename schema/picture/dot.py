"""A team in the language of GraphViz."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .caption import flows, goes, one_line, works

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ..team import Team

__all__ = ["draw"]

LINE_BREAK = r"\n"
DEFAULTS = (
    "rankdir=LR",
    "nodesep=0.2",
    "ranksep=0.9",
    'node [shape=box, style=rounded, fontname="sans-serif", fontsize=11]',
    'edge [color="#64748b", arrowsize=0.7]',
)


def draw(team: Team) -> str:
    """Draw a team as a directed graph of GraphViz, each level on one rank."""
    body = (f"  {line};" for line in _lines(team))
    return "\n".join([f"digraph {_quoted(team.name)} {{", *body, "}", ""])


def _lines(team: Team) -> Iterator[str]:
    yield from DEFAULTS
    if said := goes(team):
        yield f"label={_quoted(', '.join(said))}"
    output = team.output
    for level in team.levels:
        yield f"{{ rank=same; {_listed(level)} }}"
    for agent_id in team.agents:
        width = ", penwidth=2.5" if agent_id == output else ""
        yield f"{_quoted(agent_id)} [label={_label(team, agent_id)}{width}]"
    for senders, receivers in flows(team).items():
        yield f"{{ {_listed(senders)} }} -> {{ {_listed(receivers)} }}"


def _label(team: Team, agent_id: str) -> str:
    agent = team.agents[agent_id]
    lines = filter(None, (agent_id, one_line(agent.role), works(team, agent)))
    return f'"{LINE_BREAK.join(map(_escaped, lines))}"'


def _listed(ids: Iterable[str]) -> str:
    return " ".join(map(_quoted, ids))


def _quoted(text: str) -> str:
    return f'"{_escaped(text)}"'


def _escaped(text: str) -> str:
    # GraphViz reads backslashes and the entities of HTML in labels.
    text = text.replace("\\", "\\\\").replace("&", "&amp;")
    return text.replace('"', '\\"')
