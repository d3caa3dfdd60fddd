"""What may happen to a pool, as values, each with its line of the ledger.

`Pool.commit` takes any of them, under the name of an operation, and each counts once. What a line
may say is told by `ledger.schema.json`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, Literal, Self

from ...schema.team.building import agent_of
from ...schema.team.team import Agent, Lineage, Team
from ...schema.team.writing import agent_value
from ...schema.values.codec import Form, kept, to_value
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
"""What a member is."""


def _agent(agent: Agent) -> dict[str, Any]:
    return agent_value(replace(agent, member=None))


def _problems(problems: Iterable[Problem | str]) -> tuple[str, ...]:
    return told_all(map(str, problems), MOST_PROBLEMS)


def _about(about: Mapping[str, Any]) -> dict[str, Any]:
    return _clean(plain(about))


def _clean(value: Any) -> Any:
    """Make the texts of a plain value fit for the ledger."""
    if isinstance(value, str):
        return displayable(value, LONGEST_REASON)
    if isinstance(value, Mapping):
        return {displayable(str(key)): _clean(item) for key, item in value.items()}
    return [_clean(item) for item in value] if isinstance(value, list) else value


@dataclass(frozen=True, kw_only=True, slots=True)
class Added:
    """A team or an agent comes into the pool.

    A team does unless one is there that equals it but for its agents' names. An agent always does:
    many may be equal at first.

    Attributes:
        member: The team, or the agent. The pool names it, whatever it is called.
        lineage: Where it comes from. Without edits, they are what differs from the first parent.
        name: What to call it, if nobody is called so. By default, what has no parents keeps its
            name, or has it with a number where it is taken, and a child has the first ancestor's
            with a number.
        inherits: The agents whose archives, as they are then, an agent's own begins with. Nothing
            is copied for that.
    """

    member: Team | Agent
    lineage: Lineage
    name: str | None = None
    inherits: tuple[str, ...] = ()

    @property
    def members(self) -> tuple[str, ...]:
        """The members that have to be there."""
        return tuple(dict.fromkeys((*self.lineage.parents, *self.inherits)))

    def value(self) -> dict[str, Any]:
        """Return the ledger's line of it, once the member has its name there, and its lineage."""
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


@kept(omit=True, tag=("kind", "revised"))
class Revised:
    """An agent of the pool becomes another one, under the same name. Teams are written once.

    Attributes:
        to: What it is from then on.
        edits: What differs from what it was, in words. Without any, they are told by comparing.
    """

    agent: str
    to: Annotated[Agent, Form(key="value", write=_agent)]
    edits: Annotated[tuple[str, ...], Form(write=told_all)] = ()
    reason: Annotated[str, REASON] = ""

    @property
    def members(self) -> tuple[str, ...]:
        """The members that have to be there."""
        return (self.agent,)

    def value(self) -> dict[str, Any]:
        """Return the ledger's line of it."""
        return to_value(self)

    @classmethod
    def of(cls, value: Mapping[str, Any]) -> Self:
        """Read a ledger's line."""
        return cls(
            agent=value["agent"],
            to=agent_of(value["agent"], value.get("value", {})),
            reason=value.get("reason", ""),
            edits=tuple(value.get("edits", ())),
        )


@kept()
class Evaluated:
    """A team was run on a task."""

    member: Annotated[str, Form(key="team")]
    trial: Annotated[Trial, Form(flat=True)]

    @property
    def members(self) -> tuple[str, ...]:
        """The members that have to be there."""
        return (self.member, *sorted({part.member for part in self.trial.agents.values()}))

    def value(self) -> dict[str, Any]:
        """Return the ledger's line of it."""
        kind = "failed" if self.trial.score is None else "evaluated"
        trial = replace(self.trial, reason=displayable(self.trial.reason, LONGEST_REASON))
        return {"kind": kind, **to_value(replace(self, trial=trial))}


@kept(omit=True, tag=("kind", "rejected"))
class ChildRejected:
    """A child was dropped; its parents stay as they are.

    Attributes:
        parents: The members that it was made from.
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
        """The members that have to be there."""
        return tuple(self.parents)

    def value(self) -> dict[str, Any]:
        """Return the ledger's line of it."""
        return to_value(self)


@dataclass(frozen=True, kw_only=True, slots=True)
class Retired:
    """A member is none any longer. Its file, its lineage and its evaluations stay."""

    member: str
    reason: str

    @property
    def members(self) -> tuple[str, ...]:
        """The members that have to be there."""
        return (self.member,)

    def value(self, of: Of = "team") -> dict[str, Any]:
        """Return the ledger's line of it, which says what the member is."""
        reason = displayable(self.reason, LONGEST_REASON)
        return {"kind": "retired", of: self.member, **({"reason": reason} if reason else {})}

    @classmethod
    def of(cls, value: Mapping[str, Any]) -> Self:
        """Read a ledger's line."""
        return cls(member=_member(value), reason=value.get("reason", ""))


@dataclass(frozen=True, kw_only=True, slots=True)
class Restored:
    """A retired member is one again; nothing happens where it is one."""

    member: str

    @property
    def members(self) -> tuple[str, ...]:
        """The members that have to be there."""
        return (self.member,)

    def value(self, of: Of = "team") -> dict[str, Any]:
        """Return the ledger's line of it, which says what the member is."""
        return {"kind": "restored", of: self.member}

    @classmethod
    def of(cls, value: Mapping[str, Any]) -> Self:
        """Read a ledger's line."""
        return cls(member=_member(value))


@kept(omit=True, tag=("kind", "told"))
class EventNoted:
    """Something happened that changes no member: an event with its numbers.

    Attributes:
        what: Which event, as its writer calls it: `lifecycle.fork`.
        about: What there is to say of it: plain values.
    """

    what: str
    about: Annotated[Mapping[str, Any], Form(write=_about)] = field(default_factory=dict[str, Any])

    @property
    def members(self) -> tuple[str, ...]:
        """The members that have to be there."""
        return ()

    def value(self) -> dict[str, Any]:
        """Return the ledger's line of it.

        Raises:
            InputError: It is not as `ledger.schema.json` has it.
        """
        value = to_value(self)
        if text := next(misshapen(value), None):
            raise InputError(f"the event {self.what!r} cannot be kept: {text}.")
        return value


@kept(omit=True, tag=("kind", "forgotten"))
class Forgotten:
    """Entries of the memory are found no more, as if replaced. Their lines stay."""

    entries: tuple[str, ...]
    reason: Annotated[str, REASON] = ""

    @property
    def members(self) -> tuple[str, ...]:
        """The members that have to be there."""
        return ()

    def value(self) -> dict[str, Any]:
        """Return the ledger's line of it."""
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
"""Whatever may happen to a pool."""


def _member(value: Mapping[str, Any]) -> str:
    return value["team"] if "team" in value else value["agent"]
