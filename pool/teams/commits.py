"""Commits changes to a pool: a check, then a line of the ledger, then files for readers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from ...schema import dump
from ...schema.edits import summary
from ...schema.host.catalogue import Catalogue
from ...schema.loading.ceiling import CapabilityPolicy
from ...schema.loading.loading import check_team
from ...schema.team.team import Agent, Lineage, LineageStep, Team
from ...schema.team.writing import agent_value, team_value
from ...schema.values.codec import to_value
from ...schema.values.errors import ConfigError, InputError
from ...schema.values.problems import quoted
from ..folder.agent_folders import AgentFolders
from ..ledger.agents import PoolAgent, check_agent, differences
from ..ledger.changes import (
    Added,
    Change,
    ChildRejected,
    Evaluated,
    EventNoted,
    Forgotten,
    Learnt,
    Restored,
    Retired,
    Revised,
)
from ..ledger.current import Current
from ..ledger.members import Member
from ..ledger.records import TrialRecord
from ..ledger.scaffold import HEAD, Scaffold
from ..ledger.state import SEED, Admission, State
from ..values.identity import identity_of
from ..values.layout import AGENTS, TEAMS, file_of
from ..values.texts import LONGEST_REASON, MOST_NOTES, displayable, told_all


def named(change: Added, parents: Sequence[Member], state: State, *, op: str) -> Team:
    """Return a team with its name and its lineage in a pool.

    A child's name begins like its first ancestor's, so no model has influence on it.
    """
    team, origin = cast("Team", change.member), change.lineage
    edits = origin.edits
    if parents and not edits:
        edits = summary(parents[0].team, replace(team, name=parents[0].team.name))
    lineage = _clean(origin, edits)

    def addition() -> tuple[str, Any]:
        return op, team_value(replace(team, lineage=lineage))

    name = _name(team.name, parents, state, change.name, addition)
    return replace(team, name=name, lineage=lineage)


def named_agent(
    change: Added, parents: Sequence[PoolAgent], state: State, *, op: str
) -> tuple[Agent, Lineage]:
    """Return an agent with its name in a pool, and its lineage there."""
    agent, origin = cast("Agent", change.member), change.lineage
    edits = origin.edits
    if parents and not edits:
        edits = differences(parents[0].agent, replace(agent, id=parents[0].name))
    lineage = _clean(origin, edits)

    def content() -> tuple[str, Any]:
        value = agent_value(replace(agent, member=None))
        return op, [value, to_value(lineage), change.inherits]

    name = _name(agent.id, parents, state, change.name, content)
    return replace(agent, id=name, member=None), lineage


def _name(
    own: str,
    parents: Sequence[TrialRecord],
    state: State,
    wish: str | None,
    content: Callable[[], tuple[str, Any]],
) -> str:
    """Choose a name: the wanted one, or the member's own, or its stem with an ending.

    In a pool whose branches are merged, only initial members have names without an ending. The
    ending is a hash of the operation and the member's content.
    """
    stem = parents[0].stem if parents else own
    if state.shared and not (pair := content())[0].startswith(SEED):
        return state.unique_name(stem, pair)
    name = wish or (None if parents else stem)
    return state.name_for(stem) if name is None or state.find(name) else name


def _clean(lineage: Lineage, edits: Sequence[str]) -> Lineage:
    """Return a lineage with clean texts of limited length."""
    return Lineage(
        operator=lineage.operator,
        parents=tuple(dict.fromkeys(lineage.parents)),
        edits=told_all(edits),
        reason=displayable(lineage.reason, LONGEST_REASON),
        task=displayable(lineage.task),
        run=displayable(lineage.run),
        steps=tuple(map(_step, lineage.steps[:MOST_NOTES])) if len(lineage.steps) > 1 else (),
    )


def checked_text(team: Team, catalogue: Catalogue, ceiling: CapabilityPolicy | None) -> str:
    """Return the text of a team's file after checking that it loads.

    Raises:
        ConfigError: It does not load, or is above the ceiling.
    """
    text, file = dump(team), file_of(team.name)
    # Loading refuses lone surrogates.
    _, problems = check_team(text.encode("utf-8", "surrogatepass"), file, catalogue)
    if ceiling is not None:
        problems += ceiling.problems(team, file)
    if problems:
        raise ConfigError(problems)
    return text


def duplicate_line(team: Team, duplicate: str) -> dict[str, Any]:
    """Return the ledger line of a team that was not added, because an equal one exists."""
    return {"kind": "twin", "team": duplicate, "lineage": _value(team)}


def _value(team: Team) -> dict[str, Any]:
    return to_value(team.lineage) if team.lineage else {}


def _step(step: LineageStep) -> LineageStep:
    return LineageStep(
        operator=step.operator,
        edits=told_all(step.edits),
        fields=step.fields,
        reason=displayable(step.reason, LONGEST_REASON),
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class Commits:
    """Commits changes; see `Pool.commit`.

    Attributes:
        host: Returns the names that teams may use, on demand.
        ceiling: The limits of teams.
    """

    current: Current
    folders: AgentFolders
    scaffold: Scaffold
    host: Callable[[], Catalogue]
    ceiling: CapabilityPolicy | None

    def commit(self, change: Change, *, op: str) -> Admission | bool:
        """Commit a change; see `Pool.commit`."""
        match change:
            case Added(member=member):
                bear = self._bear if isinstance(member, Team) else self._bear_agent
                return bear(change, op=op)
            case Revised():
                return self._revise(change, op=op)
            case Retired() | Restored():
                return self._led(lambda: self._move(change, op=op))
            case Learnt() | Forgotten():
                return self._learn(change, op=op)
            case EventNoted(what=what) if what == HEAD:
                return self._led(lambda: self._record(change, op=op))
            case Evaluated() | ChildRejected() | EventNoted():
                return self._record(change, op=op)
            case _:  # an unknown change of a plug-in
                raise InputError(f"{quoted(change)} is not a change of a pool. Correct its source.")

    def _led(self, make: Callable[[], bool]) -> bool:
        """Commit a change that may change the head, and update the scaffold if it did."""
        before = self.current.state.heads
        has_changed = make()
        if self.current.state.heads != before:
            with self.current.alone():
                self.scaffold.follow(self.current.state.heads)
        return has_changed

    def _bear(self, change: Added, *, op: str) -> Admission:
        """Add a team, or find an equal one."""
        current, team = self.current, cast("Team", change.member)
        if change.inherits:
            raise InputError(
                f"the team {quoted(team.name)} cannot inherit from {quoted(change.inherits[0])}:"
                " only agents have archives. Leave out inherits."
            )
        with current.alone():
            if current.admitted(op) is None:
                parents = [current.member(parent) for parent in change.lineage.parents]
                child = named(change, parents, current.state, op=op)
                catalogue = self.host().beside(current.folder / TEAMS)
                text, key = checked_text(child, catalogue, self.ceiling), identity_of(child)
                if duplicate := current.duplicate_of(child, key):
                    current.commit(duplicate_line(child, duplicate), op=op)
                else:
                    added = Added(member=child, lineage=child.lineage or change.lineage)
                    current.commit(added.value(), op=op, files={file_of(child.name): text})
            return current.admission(op)

    def _bear_agent(self, change: Added, *, op: str) -> Admission:
        """Add an agent: first its line, which has everything, then its files."""
        current = self.current
        with current.alone():
            if current.admitted(op) is None:
                parents = [current.agent(parent) for parent in change.lineage.parents]
                current.expect_agents(change.inherits)
                agent, lineage = named_agent(change, parents, current.state, op=op)
                check_agent(agent, self._known_to_agents(), self.ceiling)
                inherits = tuple(dict.fromkeys(change.inherits))
                added = Added(member=agent, lineage=lineage, inherits=inherits)
                current.commit(added.value(), op=op)
            admission = current.admission(op)
            self.folders.write(current.state.agents[admission.name], current.state.learnt)
            return admission

    def _revise(self, change: Revised, *, op: str) -> bool:
        """Revise an agent: first the line, then the files."""
        with self.current.alone():
            now, has_changed = self.current.agent(change.agent), False
            to = replace(change.to, id=now.name, member=None)
            if to != now.agent:
                check_agent(to, self._known_to_agents(), self.ceiling)
                edits = change.edits or differences(now.agent, to)
                line = replace(change, to=to, edits=edits).value()
                has_changed = self.current.commit(line, op=op)
            self.folders.revise(now)
            return has_changed

    def _learn(self, change: Learnt | Forgotten, *, op: str) -> bool:
        """Record or forget lessons: first the line, then the files of their owners."""
        if isinstance(change, Forgotten):
            self.current.expect_learnt(change.entries)
            return self.current.commit(change.value(), op=op)
        self.current.expect_learnt(change.replaces)
        self.current.expect_agents(change.to)
        if not change.owners:
            return self.current.commit(change.value(), op=op)
        with self.current.alone():
            has_changed, state = self.current.commit(change.value(), op=op), self.current.state
            self.folders.learn(
                [owner for owner in change.owners if owner in state.agents], state.learnt
            )
            return has_changed

    def _known_to_agents(self) -> Catalogue:
        return self.host().beside(self.current.folder / AGENTS)

    def _move(self, change: Retired | Restored, *, op: str) -> bool:
        """Retire or restore a member."""
        member = self.current.find(change.member)
        if isinstance(change, Restored) and member.retired is None:
            return False
        of = "agent" if isinstance(member, PoolAgent) else "team"
        if isinstance(change, Restored) and isinstance(member, Member):
            member.expected(member.team)  # without its file it would damage the pool
        return self.current.commit(change.value(of), op=op)

    def _record(self, change: Evaluated | ChildRejected | EventNoted, *, op: str) -> bool:
        with self.current.turn:
            for name in change.members:
                self.current.find(name)
            return self.current.commit(change.value(), op=op)
