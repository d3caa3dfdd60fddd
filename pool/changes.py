"""What may happen to a pool, as values, each with its line of the ledger.

`Pool.commit` takes any of them, under the name of an operation, and each counts once. What a line
may say is told by `ledger.schema.json`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, Self

from ..schema.building import agent_of
from ..schema.errors import InputError
from ..schema.team import Agent
from ..schema.values import plain
from ..schema.writing import agent_value, lineage_value
from .identity import identity_of
from .learnt import Learnt
from .shape import misshapen
from .statistics import Trial
from .texts import LONGEST_REASON, told, told_all

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..schema.problems import Problem
    from ..schema.team import Lineage, Team

__all__ = [
    "Born",
    "Change",
    "Learnt",
    "Of",
    "Rejected",
    "Restored",
    "Retired",
    "Revised",
    "Told",
    "Tried",
]

MOST_PROBLEMS = 20
Of = Literal["team", "agent"]
"""What a member is."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Born:
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
        """Give the ledger's line of it, once the member has its name there, and its lineage."""
        if isinstance(self.member, Agent):
            value = agent_value(replace(self.member, member=None))
            told = {"kind": "born", "agent": self.member.id, "value": value}
            begun = {"inherits": self.inherits} if self.inherits else {}
            return {**told, "lineage": lineage_value(self.lineage), **begun}
        return {
            "kind": "born",
            "team": self.member.name,
            "identity": identity_of(self.member),
            "content_hash": self.member.content_hash,
            "lineage": lineage_value(self.lineage),
        }


@dataclass(frozen=True, kw_only=True, slots=True)
class Revised:
    """An agent of the pool becomes another one, under the same name. Teams are written once.

    Attributes:
        agent: Which.
        to: What it is from then on.
        reason: Why.
        edits: What differs from what it was, in words. Without any, they are told by comparing.
    """

    agent: str
    to: Agent
    reason: str = ""
    edits: tuple[str, ...] = ()

    @property
    def members(self) -> tuple[str, ...]:
        """The members that have to be there."""
        return (self.agent,)

    def value(self) -> dict[str, Any]:
        """Give the ledger's line of it."""
        return _said(
            {
                "kind": "revised",
                "agent": self.agent,
                "value": agent_value(replace(self.to, member=None)),
                "edits": told_all(self.edits),
                "reason": told(self.reason, LONGEST_REASON),
            }
        )

    @classmethod
    def of(cls, value: Mapping[str, Any]) -> Self:
        """Read a ledger's line."""
        return cls(
            agent=value["agent"],
            to=agent_of(value["agent"], value.get("value", {})),
            reason=value.get("reason", ""),
            edits=tuple(value.get("edits", ())),
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class Tried:
    """A team was run on a task.

    Attributes:
        member: The team.
        trial: What came of it.
    """

    member: str
    trial: Trial

    @property
    def members(self) -> tuple[str, ...]:
        """The members that have to be there."""
        return (self.member, *sorted({part.member for part in self.trial.agents.values()}))

    def value(self) -> dict[str, Any]:
        """Give the ledger's line of it."""
        kind = "failed" if self.trial.score is None else "evaluated"
        trial = replace(self.trial, reason=told(self.trial.reason, LONGEST_REASON))
        return {"kind": kind, "team": self.member, **trial.value()}

    @classmethod
    def of(cls, value: Mapping[str, Any]) -> Self:
        """Read a ledger's line."""
        return cls(member=value["team"], trial=Trial.of(value))


@dataclass(frozen=True, kw_only=True, slots=True)
class Rejected:
    """A child was dropped; its parents stay as they are.

    Attributes:
        operator: What made it.
        reason: Why it was dropped.
        problems: What loading said of it.
        parents: The members that it was made from.
        task: The id of the task on which it was made.
        run: The run in which it was made.
    """

    operator: str
    reason: str
    problems: Sequence[Problem | str] = ()
    parents: Sequence[str] = ()
    task: str = ""
    run: str = ""

    @property
    def members(self) -> tuple[str, ...]:
        """The members that have to be there."""
        return tuple(self.parents)

    def value(self) -> dict[str, Any]:
        """Give the ledger's line of it."""
        return _said(
            {
                "kind": "rejected",
                "operator": told(self.operator),
                "reason": told(self.reason, LONGEST_REASON),
                "problems": told_all(map(str, self.problems), MOST_PROBLEMS),
                "parents": tuple(self.parents),
                "task": told(self.task),
                "run": told(self.run),
            }
        )

    @classmethod
    def of(cls, value: Mapping[str, Any]) -> Self:
        """Read a ledger's line."""
        return cls(**{"reason": "", **_fields(value)})


@dataclass(frozen=True, kw_only=True, slots=True)
class Retired:
    """A member is none any longer. Its file, its lineage and its evaluations stay.

    Attributes:
        member: Who.
        reason: Why.
    """

    member: str
    reason: str

    @property
    def members(self) -> tuple[str, ...]:
        """The members that have to be there."""
        return (self.member,)

    def value(self, of: Of = "team") -> dict[str, Any]:
        """Give the ledger's line of it, which says what the member is."""
        reason = told(self.reason, LONGEST_REASON)
        return _said({"kind": "retired", of: self.member, "reason": reason})

    @classmethod
    def of(cls, value: Mapping[str, Any]) -> Self:
        """Read a ledger's line."""
        return cls(member=_member(value), reason=value.get("reason", ""))


@dataclass(frozen=True, kw_only=True, slots=True)
class Restored:
    """A retired member is one again; nothing happens where it is one.

    Attributes:
        member: Who.
    """

    member: str

    @property
    def members(self) -> tuple[str, ...]:
        """The members that have to be there."""
        return (self.member,)

    def value(self, of: Of = "team") -> dict[str, Any]:
        """Give the ledger's line of it, which says what the member is."""
        return {"kind": "restored", of: self.member}

    @classmethod
    def of(cls, value: Mapping[str, Any]) -> Self:
        """Read a ledger's line."""
        return cls(member=_member(value))


@dataclass(frozen=True, kw_only=True, slots=True)
class Told:
    """Something happened that changes no member: an event with its numbers.

    Attributes:
        what: Which event, as its writer calls it: `lifecycle.fork`.
        about: What there is to say of it: plain values.
    """

    what: str
    about: Mapping[str, Any]

    @property
    def members(self) -> tuple[str, ...]:
        """The members that have to be there."""
        return ()

    def value(self) -> dict[str, Any]:
        """Give the ledger's line of it.

        Raises:
            InputError: It is not as `ledger.schema.json` has it.
        """
        value = _said({"kind": "told", "what": self.what, "about": _clean(plain(self.about))})
        if said := next(misshapen(value), None):
            raise InputError(f"the event {self.what!r} cannot be kept: {said}.")
        return value

    @classmethod
    def of(cls, value: Mapping[str, Any]) -> Self:
        """Read a ledger's line."""
        return cls(what=value["what"], about=value.get("about", {}))


Change = Born | Revised | Tried | Rejected | Retired | Restored | Learnt | Told
"""Whatever may happen to a pool."""


def _said(value: Mapping[str, Any]) -> dict[str, Any]:
    """Leave out what says nothing."""
    return {key: item for key, item in value.items() if item not in ((), "", {})}


def _member(value: Mapping[str, Any]) -> str:
    return value["team"] if "team" in value else value["agent"]


def _fields(value: Mapping[str, Any]) -> dict[str, Any]:
    lists = {key: tuple(item) for key, item in value.items() if isinstance(item, list | tuple)}
    return {**{key: item for key, item in value.items() if key != "kind"}, **lists}


def _clean(value: Any) -> Any:
    """Make the texts of a plain value fit for the ledger."""
    if isinstance(value, str):
        return told(value, LONGEST_REASON)
    if isinstance(value, Mapping):
        return {told(str(key)): _clean(item) for key, item in value.items()}
    return [_clean(item) for item in value] if isinstance(value, list) else value
