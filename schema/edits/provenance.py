"""Records which task taught an agent each note, beside the notes themselves."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from types import MappingProxyType

from ..team.team import Agent, Team
from .kinds.kinds import AddAgent, Edit, SetNote


def taught(team: Team, edits: Iterable[Edit], task: str) -> Team:
    """Record the task that taught the notes that edits have set.

    Edits keep the record of notes that they leave unchanged, and drop it for notes that they
    replace. So a note that still has a task here keeps it. A note without one was learnt anew, even
    if an edit set it to its old text.

    Args:
        edits: The edits. All notes of an added agent count as set.
    """
    places: dict[str, set[str]] = {}
    for agent, place in _set_by(edits):
        places.setdefault(agent, set()).update(place)
    agents = {
        name: _taught(agent, places[name], task) if name in places else agent
        for name, agent in team.agents.items()
    }
    return replace(team, agents=MappingProxyType(agents))


def _set_by(edits: Iterable[Edit]) -> Iterator[tuple[str, Iterable[str]]]:
    """Yield each agent with the places of the notes that an edit set."""
    for edit in edits:
        if isinstance(edit, SetNote) and edit.agent is not None:
            yield edit.agent, [edit.place]
        elif isinstance(edit, AddAgent):
            yield edit.agent.id, edit.agent.notes.places


def _taught(agent: Agent, places: Iterable[str], task: str) -> Agent:
    before = agent.notes.taught
    new = {place: task for place in places if place in agent.notes.places and place not in before}
    notes = replace(agent.notes, taught=MappingProxyType({**before, **new}))
    return replace(agent, notes=notes)
