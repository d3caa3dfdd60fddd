"""The possible changes of a pool, as values, each with its ledger line.

`Pool.commit` accepts any of them, under the name of an operation, and each counts once.
`ledger.schema.json` defines the content of lines.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, Literal, Self

from ...schema.team.building import agent_of
from ...schema.team.team import Agent, Lineage, Team
from ...schema.team.writing import agent_value
from ...schema.values.codec import Form, stored, to_value
from ...schema.values.errors import InputError
from ...schema.values.problems import Problem
from ...schema.values.values import plain
from ..values.identity import identity_of
from ..values.statistics import Trial
from ..values.texts import LONGEST_REASON, REASON, TEXT, displayable, told_all
from .learnt import Learnt
from .shape import misshapen

__all__ = [
    "Added",
    "Change",
    "ChildRejected",
    "Evaluated",
    "EventNoted",
    "Forgotten",
    "Learnt",
    "Of",
    "Restored",
    "Retired",
    "Revised",
]

MOST_PROBLEMS = 20
Of = Literal["team", "agent"]
"""The kind of a member."""


def _agent(agent: Agent) -> dict[str, Any]:
    return agent_value(replace(agent, member=None))


def _problems(problems: Iterable[Problem | str]) -> tuple[str, ...]:
    return told_all(map(str, problems), MOST_PROBLEMS)


def _about(about: Mapping[str, Any]) -> dict[str, Any]:
    return _clean(plain(about))


def _clean(value: Any) -> Any:
    """Clean the texts of a plain value for the ledger."""
    if isinstance(value, str):
        return displayable(value, LONGEST_REASON)
    if isinstance(value, Mapping):
        return {displayable(str(key)): _clean(item) for key, item in value.items()}
    return [_clean(item) for item in value] if isinstance(value, list) else value


@dataclass(frozen=True, kw_only=True, slots=True)
class Added:
    """Adds a team or an agent to the pool.

    A team is not added if the pool has one that equals it up to its agents' names. An agent is
    always added: many may be equal at first.

    Attributes:
        member: The team, or the agent. The pool decides its name.
        lineage: Its origin. Missing edits are derived by comparison with the first parent.
        name: The wanted name, used if it is free. Default: a member without parents keeps its name,
            with a number if it is taken; a child gets the first ancestor's name with a number.
        inherits: The agents whose current memories an agent's own begins with. They are not copied.
    """

    member: Team | Agent
    lineage: Lineage
    name: str | None = None
    inherits: tuple[str, ...] = ()

    @property
    def members(self) -> tuple[str, ...]:
        """The members that must exist."""
        return tuple(dict.fromkeys((*self.lineage.parents, *self.inherits)))

    def value(self) -> dict[str, Any]:
        """Return its ledger line, once the member has its name and its lineage there."""
        if isinstance(self.member, Agent):
            value = _agent(self.member)
            fields = {"kind": "born", "agent": self.member.id, "value": value}
            begun = {"inherits": self.inherits} if self.inherits else {}
            return {**fields, "lineage": to_value(self.lineage), **begun}
        return {
            "kind": "born",
            "team": self.member.name,
            "identity": identity_of(self.member),
            "content_hash": self.member.content_hash,
            "lineage": to_value(self.lineage),
        }


@stored(omit=True, tag=("kind", "revised"))
class Revised:
    """Replaces an agent of the pool under the same name. Teams never change.

    Attributes:
        to: The agent from then on.
        edits: The differences in words. Missing edits are derived by comparison.
    """

    agent: str
    to: Annotated[Agent, Form(key="value", write=_agent)]
    edits: Annotated[tuple[str, ...], Form(write=told_all)] = ()
    reason: Annotated[str, REASON] = ""

    @property
    def members(self) -> tuple[str, ...]:
        """The members that must exist."""
        return (self.agent,)

    def value(self) -> dict[str, Any]:
        """Return its ledger line."""
        return to_value(self)

    @classmethod
    def of(cls, value: Mapping[str, Any]) -> Self:
        """Read it from a ledger line."""
        return cls(
            agent=value["agent"],
            to=agent_of(value["agent"], value.get("value", {})),
            reason=value.get("reason", ""),
            edits=tuple(value.get("edits", ())),
        )


@stored()
class Evaluated:
    """Records the run of a team on a task."""

    member: Annotated[str, Form(key="team")]
    trial: Annotated[Trial, Form(flat=True)]

    @property
    def members(self) -> tuple[str, ...]:
        """The members that must exist."""
        return (self.member, *sorted({part.member for part in self.trial.agents.values()}))

    def value(self) -> dict[str, Any]:
        """Return its ledger line."""
        kind = "failed" if self.trial.score is None else "evaluated"
        trial = replace(self.trial, reason=displayable(self.trial.reason, LONGEST_REASON))
        return {"kind": kind, **to_value(replace(self, trial=trial))}


@stored(omit=True, tag=("kind", "rejected"))
class ChildRejected:
    """Records a rejected child; its parents stay unchanged.

    Attributes:
        parents: Its parents.
        task: The id of the task on which it was made.
    """

    operator: Annotated[str, TEXT]
    reason: Annotated[str, REASON] = ""
    problems: Annotated[Sequence[Problem | str], Form(write=_problems)] = ()
    parents: Sequence[str] = ()
    task: Annotated[str, TEXT] = ""
    run: Annotated[str, TEXT] = ""

    @property
    def members(self) -> tuple[str, ...]:
        """The members that must exist."""
        return tuple(self.parents)

    def value(self) -> dict[str, Any]:
        """Return its ledger line."""
        return to_value(self)


@dataclass(frozen=True, kw_only=True, slots=True)
class Retired:
    """Retires a member. Its file, its lineage and its evaluations stay."""

    member: str
    reason: str

    @property
    def members(self) -> tuple[str, ...]:
        """The members that must exist."""
        return (self.member,)

    def value(self, of: Of = "team") -> dict[str, Any]:
        """Return its ledger line, which names the kind of member."""
        reason = displayable(self.reason, LONGEST_REASON)
        return {"kind": "retired", of: self.member, **({"reason": reason} if reason else {})}

    @classmethod
    def of(cls, value: Mapping[str, Any]) -> Self:
        """Read it from a ledger line."""
        return cls(member=_member(value), reason=value.get("reason", ""))


@dataclass(frozen=True, kw_only=True, slots=True)
class Restored:
    """Restores a retired member; no effect on others."""

    member: str

    @property
    def members(self) -> tuple[str, ...]:
        """The members that must exist."""
        return (self.member,)

    def value(self, of: Of = "team") -> dict[str, Any]:
        """Return its ledger line, which names the kind of member."""
        return {"kind": "restored", of: self.member}

    @classmethod
    def of(cls, value: Mapping[str, Any]) -> Self:
        """Read it from a ledger line."""
        return cls(member=_member(value))


@stored(omit=True, tag=("kind", "told"))
class EventNoted:
    """Records an event, with its numbers, that changes no member.

    Attributes:
        what: The writer's name of the event: `lifecycle.fork`.
        about: The event's data, as plain values.
    """

    what: str
    about: Annotated[Mapping[str, Any], Form(write=_about)] = field(default_factory=dict[str, Any])

    @property
    def members(self) -> tuple[str, ...]:
        """The members that must exist."""
        return ()

    def value(self) -> dict[str, Any]:
        """Return its ledger line.

        Raises:
            InputError: It does not match `ledger.schema.json`.
        """
        value = to_value(self)
        if text := next(misshapen(value), None):
            raise InputError(f"the event {self.what!r} is invalid: {text}.")
        return value


@stored(omit=True, tag=("kind", "forgotten"))
class Forgotten:
    """Hides entries of the memory from searches, as if replaced. Their lines stay."""

    entries: tuple[str, ...]
    reason: Annotated[str, REASON] = ""

    @property
    def members(self) -> tuple[str, ...]:
        """The members that must exist."""
        return ()

    def value(self) -> dict[str, Any]:
        """Return its ledger line."""
        return to_value(self)


Change = (
    Added
    | Revised
    | Evaluated
    | ChildRejected
    | Retired
    | Restored
    | Learnt
    | Forgotten
    | EventNoted
)
"""Any change of a pool."""


def _member(value: Mapping[str, Any]) -> str:
    return value["team"] if "team" in value else value["agent"]
