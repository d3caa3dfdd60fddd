"""How changes happen to a pool: each checked, then a line of the ledger, then files to read."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, cast

from ...schema.team.team import Team
from ...schema.values.errors import InputError
from ...schema.values.problems import quoted
from ..ledger.agents import PoolAgent, check_agent, differences
from ..ledger.changes import (
    Added,
    ChildRejected,
    Evaluated,
    EventNoted,
    Forgotten,
    Learnt,
    Restored,
    Retired,
    Revised,
)
from ..ledger.scaffold import HEAD
from ..values.identity import identity_of
from ..values.layout import AGENTS, TEAMS, file_of
from .birth import checked_text, named, named_agent, twin_line

if TYPE_CHECKING:
    from collections.abc import Callable

    from ...schema.host.catalogue import Catalogue
    from ...schema.loading.ceiling import CapabilityPolicy
    from ..folder.agent_folders import AgentFolders
    from ..ledger.changes import Change
    from ..ledger.current import Current
    from ..ledger.scaffold import Scaffold
    from ..ledger.state import Admission


@dataclass(frozen=True, kw_only=True, slots=True)
class Commits:
    """Commits changes; see `Pool.commit`.

    Attributes:
        current: What the pool has come to.
        host: Gives what its teams may name, when somebody asks.
        ceiling: What they may ask for at most.
        scaffold: The folder of the head.
    """

    current: Current
    folders: AgentFolders
    scaffold: Scaffold
    host: Callable[[], Catalogue]
    ceiling: CapabilityPolicy | None

    def commit(self, change: Change, *, op: str) -> Admission | bool:
        """Let something happen; see `Pool.commit`."""
        match change:
            case Added(member=one):
                bear = self._bear if isinstance(one, Team) else self._bear_agent
                return bear(change, op=op)
            case Revised():
                return self._revise(change, op=op)
            case Retired() | Restored():
                return self._led(lambda: self._move(change, op=op))
            case Learnt() | Forgotten():
                return self._learn(change, op=op)
            case EventNoted(what=what) if what == HEAD:
                return self._led(lambda: self._record(change, op=op))
            case _:
                return self._record(change, op=op)

    def _led(self, made: Callable[[], bool]) -> bool:
        """Let something happen by which another team may be the head: then its folder follows."""
        before = self.current.state.heads
        done = made()
        if self.current.state.heads != before:
            with self.current.alone():
                self.scaffold.follow(self.current.state.heads)
        return done

    def _bear(self, change: Added, *, op: str) -> Admission:
        """Add a team, or find the one that equals it."""
        current, team = self.current, cast("Team", change.member)
        if change.inherits:
            raise InputError(
                f"the team {quoted(team.name)} is to inherit from {quoted(change.inherits[0])}."
                " Agents have archives, teams have none. Leave out inherits."
            )
        with current.alone():
            if current.admitted(op) is None:
                parents = [current.member(parent) for parent in change.lineage.parents]
                child = named(change, parents, current.state, op=op)
                known = self.host().beside(current.folder / TEAMS)
                text, key = checked_text(child, known, self.ceiling), identity_of(child)
                if twin := current.twin(child, key):
                    current.commit(twin_line(child, twin), op=op)
                else:
                    born = Added(member=child, lineage=child.lineage or change.lineage)
                    current.commit(born.value(), op=op, files={file_of(child.name): text})
            return current.admission(op)

    def _bear_agent(self, change: Added, *, op: str) -> Admission:
        """Add an agent: its line first, which has all of it, and then its file."""
        current = self.current
        with current.alone():
            if current.admitted(op) is None:
                parents = [current.agent(parent) for parent in change.lineage.parents]
                current.expect_agents(change.inherits)
                agent, lineage = named_agent(change, parents, current.state, op=op)
                check_agent(agent, self._known_to_agents(), self.ceiling)
                inherits = tuple(dict.fromkeys(change.inherits))
                born = Added(member=agent, lineage=lineage, inherits=inherits)
                current.commit(born.value(), op=op)
            admission = current.admission(op)
            self.folders.write(current.state.agents[admission.name], current.state.learnt)
            return admission

    def _revise(self, change: Revised, *, op: str) -> bool:
        """Let an agent become another one: the line first, and then the file."""
        with self.current.alone():
            now, done = self.current.agent(change.agent), False
            to = replace(change.to, id=now.name, member=None)
            if to != now.agent:
                check_agent(to, self._known_to_agents(), self.ceiling)
                edits = change.edits or differences(now.agent, to)
                line = replace(change, to=to, edits=edits).value()
                done = self.current.commit(line, op=op)
            self.folders.revise(now)
            return done

    def _learn(self, change: Learnt | Forgotten, *, op: str) -> bool:
        """Let something be learnt: the line first, and then the files of those whose it is."""
        if isinstance(change, Forgotten):
            self.current.expect_learnt(change.entries)
            return self.current.commit(change.value(), op=op)
        self.current.expect_learnt(change.replaces)
        self.current.expect_agents(change.to)
        if not change.owners:
            return self.current.commit(change.value(), op=op)
        with self.current.alone():
            done, state = self.current.commit(change.value(), op=op), self.current.state
            self.folders.learn(
                [owner for owner in change.owners if owner in state.agents], state.learnt
            )
            return done

    def _known_to_agents(self) -> Catalogue:
        return self.host().beside(self.current.folder / AGENTS)

    def _move(self, change: Retired | Restored, *, op: str) -> bool:
        """Let a member be none, or be one again."""
        member = self.current.find(change.member)
        if isinstance(change, Restored) and member.retired is None:
            return False
        of = "agent" if isinstance(member, PoolAgent) else "team"
        return self.current.commit(change.value(of), op=op)

    def _record(self, change: Evaluated | ChildRejected | EventNoted, *, op: str) -> bool:
        with self.current.turn:
            for name in change.members:
                self.current.find(name)
            return self.current.commit(change.value(), op=op)
