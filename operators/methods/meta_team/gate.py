"""The commit gate: which of a team's changes may be kept (Meta-Team App. D).

It checks four things. Every agent keeps its role. No agent gains capabilities beyond the ceiling.
The child loads like any team file. Its texts fit their limits, since every later task pays for
them.
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
from ....schema.team.team import Agent, Notes, Team
from ...core.answers import InvalidAnswer, sentences
from ...core.material import prompt_of
from .room import NoteLimits

KINDS = (SetNote, AddAgent, RemoveAgent, AddEdge, RemoveEdge)
"""The edits a retrospective may make: notes, members, and reports."""
NAMELESS = Notes()


@dataclass(frozen=True, kw_only=True, slots=True)
class Refused:
    """A refused edit.

    Attributes:
        what: The edit, or the text that was meant as one.
        reasons: The reasons, as sentences that its author can act on.
    """

    what: str
    reasons: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Passed:
    """The result of the gate.

    Attributes:
        child: The team with the accepted edits; the team itself if there are none.
        refused: The other edits. With `edits`, they are complete.
    """

    child: Team
    edits: tuple[Edit, ...] = ()
    refused: tuple[Refused, ...] = ()


class _Refusing(Protocol):
    @property
    def refused(self) -> tuple[Refused, ...]: ...


Read = TypeVar("Read", bound=_Refusing)


def require_all(answer: Read) -> Read:
    """Return an answer without refusals.

    Raises:
        InvalidAnswer: Some of it is refused.
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
    """Split edits into those to keep and those to refuse, with reasons.

    If they cannot all be kept together, they are tried in order, each on top of the accepted ones.
    Refused edits are tried again as long as that accepts any, since one may depend on a later one.
    So a bad edit never blocks a good one, whoever wrote it.

    Args:
        room: The limits of texts. None: the defaults.
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
    """Return the reasons why edits cannot be committed together; empty if they can."""
    foreign = sorted({tag(type(edit)) for edit in edits if not isinstance(edit, KINDS)})
    if foreign:
        return (f"{', '.join(foreign)}: a team does not change that by looking back.",)
    child = apply(team, edits, catalogue, ceiling)
    if isinstance(child, RejectedEdits):
        return tuple(sentences(child.problems))
    return (*_roles(team, child, edits), *_sizes(team, child, catalogue, room))


def _roles(team: Team, child: Team, edits: Sequence[Edit]) -> Iterator[str]:
    """Check that the output agent stays, and that each id stands for one role.

    All other properties of remaining agents are safe, because no allowed edit touches their ids,
    prompts, tools or limits. A team with an agent whose work reaches no other agent does not load.
    To replace a role, an agent is removed and another one is added, under another id.
    """
    texts = {edit.agent.id for edit in edits if isinstance(edit, AddAgent)}
    went = {edit.agent for edit in edits if isinstance(edit, RemoveAgent)}
    if team.output != child.output:
        yield f"{team.output} answers for the team, and has to stay the one who does."
    for agent in team.agents:
        if agent in went and agent in texts:
            yield f"{agent}: who comes needs another id than who goes."


def _sizes(team: Team, child: Team, catalogue: Catalogue, room: NoteLimits) -> Iterator[str]:
    """Check that texts that grew fit their limits."""
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
    """Return the characters that an agent reads before its task, without the runtime's own text."""
    notes = agent.notes
    texts = [*notes.patches.values(), *notes.teammates.values(), *notes.pairs.values()]
    texts += [text for skill in notes.skills.values() for text in (skill.description, skill.body)]
    prompt = prompt_of(agent, catalogue)
    return sum(map(len, (team.constitution, prompt, *texts)))


def _edit_name(edit: Edit) -> str:
    place = ".".join(str(part) for part in edit.claims[0])
    return f"{tag(type(edit))} {place}"
