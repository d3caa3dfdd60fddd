"""The commit gate: what of what a team wants to change may be kept (Meta-Team App. D).

Four things are checked: that everybody's part stays what it was, that nobody may do more than a
person allows, that what comes out loads as any team file does, and that it is no longer than there
is room for, since every task from then on pays for reading it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

from ....schema.edits import (
    AddAgent,
    AddEdge,
    Edit,
    RejectedEdits,
    RemoveAgent,
    RemoveEdge,
    SetNote,
    apply,
)
from ....schema.edits.kinds.kind import tag
from ....schema.host.catalogue import Catalogue
from ....schema.loading.ceiling import CapabilityPolicy
from ....schema.team.team import Agent, Notes, Team, is_prompt_id
from ...core.answers import InvalidAnswer, sentences
from .room import NoteLimits

KINDS = (SetNote, AddAgent, RemoveAgent, AddEdge, RemoveEdge)
"""What a retrospective may change: what is noted, who there is, and who reports to whom."""
NAMELESS = Notes()


@dataclass(frozen=True, kw_only=True, slots=True)
class Refused:
    """An edit that may not be kept.

    Attributes:
        what: Which one: the edit, or what was written in its place.
        reasons: Why, as sentences that its author can act on.
    """

    what: str
    reasons: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Passed:
    """What came through the gate.

    Attributes:
        child: The team under the edits that may be kept; the team itself, where none may.
        refused: The others. With `edits`, they are all that there were.
    """

    child: Team
    edits: tuple[Edit, ...] = ()
    refused: tuple[Refused, ...] = ()


class _Refusing(Protocol):
    @property
    def refused(self) -> tuple[Refused, ...]: ...


Read = TypeVar("Read", bound=_Refusing)


def require_all(answer: Read) -> Read:
    """Return an answer of which all may be kept.

    Raises:
        InvalidAnswer: Some of it may not.
    """
    if problems := [reason for refusal in answer.refused for reason in refusal.reasons]:
        raise InvalidAnswer(*problems)
    return answer


def gate(
    team: Team,
    edits: Sequence[Edit],
    *,
    catalogue: Catalogue,
    ceiling: CapabilityPolicy,
    room: NoteLimits | None = None,
) -> Passed:
    """Keep what may be kept, and say of the rest why it may not.

    Where not all may be kept together, they are taken in order, each with those that were kept
    before it; those that had to wait for a later one are tried again. So one bad edit costs no good
    one, whoever wrote it.

    Args:
        room: How much may be kept. None: as much as is usual.
    """
    limits = room or NoteLimits()

    def why_not(some: Sequence[Edit]) -> tuple[str, ...]:
        return objections(team, some, catalogue=catalogue, ceiling=ceiling, room=limits)

    passing, left = list(edits), list[tuple["Edit", tuple[str, ...]]]()
    if edits and why_not(edits):
        passing, left = [], [(edit, ()) for edit in edits]
    is_going_on = bool(left)
    while is_going_on:
        waiting = list[tuple["Edit", tuple[str, ...]]]()
        for item, _ in left:
            if reasons := why_not([*passing, item]):
                waiting.append((item, reasons))
            else:
                passing.append(item)
        is_going_on = len(waiting) < len(left)
        left = waiting
    result = apply(team, passing, catalogue, ceiling) if passing else team
    if isinstance(result, RejectedEdits):  # pragma: no cover - they were tried
        raise TypeError("edits that were tried one by one make no team together.")
    refused = tuple(Refused(what=_edit_name(edit), reasons=reasons) for edit, reasons in left)
    return Passed(child=result, edits=tuple(passing), refused=refused)


def objections(
    team: Team,
    edits: Sequence[Edit],
    *,
    catalogue: Catalogue,
    ceiling: CapabilityPolicy,
    room: NoteLimits,
) -> tuple[str, ...]:
    """Return why edits may not be committed together; nothing, where they may."""
    foreign = sorted({tag(type(edit)) for edit in edits if not isinstance(edit, KINDS)})
    if foreign:
        return (f"{', '.join(foreign)}: a team does not change that by looking back.",)
    child = apply(team, edits, catalogue, ceiling)
    if isinstance(child, RejectedEdits):
        return tuple(sentences(child.problems))
    return (*_roles(team, child, edits), *_sizes(team, child, catalogue, room))


def _roles(team: Team, child: Team, edits: Sequence[Edit]) -> Iterator[str]:
    """Hold everybody's part: who answers for the team stays, and an id stands for one role.

    Whoever stays has the same id, prompt, tools and limits, since no edit of a kind that may pass
    is about these; and a team of whom somebody's work reaches nobody does not load. A role is
    replaced by letting its agent go and taking in another.
    """
    texts = {edit.agent.id for edit in edits if isinstance(edit, AddAgent)}
    went = {edit.agent for edit in edits if isinstance(edit, RemoveAgent)}
    if team.output != child.output:
        yield f"{team.output} answers for the team, and has to stay the one who does."
    for agent in team.agents:
        if agent in went and agent in texts:
            yield f"{agent}: who comes needs another id than who goes."


def _sizes(team: Team, child: Team, catalogue: Catalogue, room: NoteLimits) -> Iterator[str]:
    """Hold what grew to the room that there is."""
    was, now = len(team.constitution), len(child.constitution)
    if now > max(was, room.constitution):
        yield f"the constitution has {now} characters; there is room for {room.constitution}."
    for agent in child.agents.values():
        before = team.agents.get(agent.id)
        old = before.notes if before else NAMELESS
        yield from _noted(agent.id, old, agent.notes, room)
        reads = _read(child, agent, catalogue)
        most = max(room.read, _read(team, before, catalogue)) if before else room.read
        if reads > most:
            yield f"{agent.id} would read {reads} characters ahead of its task; at most {most}."


def _noted(agent: str, old: Notes, new: Notes, room: NoteLimits) -> Iterator[str]:
    for kind, had, has, most in (
        ("patches", old.patches, new.patches, room.patches),
        ("skills", old.skills, new.skills, room.skills),
    ):
        if len(has) > max(len(had), most):
            yield (
                f"{agent} would have {len(has)} {kind}; there is room for {most}. Write one of"
                " them anew by its name, or forget one."
            )
    texts = ((old.patches, new.patches), (old.teammates, new.teammates), (old.pairs, new.pairs))
    for was, now in texts:
        for name, text in now.items():
            if len(text) > room.note and was.get(name) != text:
                yield f"{name}: {len(text)} characters; at most {room.note}."
    for name, skill in new.skills.items():
        if old.skills.get(name) != skill and len(skill.body) > room.body:
            yield f"{name}: a body of {len(skill.body)} characters; at most {room.body}."


def _read(team: Team, agent: Agent, catalogue: Catalogue) -> int:
    """Count the characters that an agent reads ahead of its task, give or take our own words."""
    named = is_prompt_id(agent.prompt)
    prompt = (catalogue.prompt(agent.prompt) or "") if named else agent.prompt
    notes = agent.notes
    texts = [prompt, *notes.patches.values(), *notes.teammates.values(), *notes.pairs.values()]
    texts += [text for skill in notes.skills.values() for text in (skill.description, skill.body)]
    return len(team.constitution) + sum(map(len, texts))


def _edit_name(edit: Edit) -> str:
    """Name an edit by its kind and its place."""
    place = ".".join(str(part) for part in edit.claims[0])
    return f"{tag(type(edit))} {place}"
