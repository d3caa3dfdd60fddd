"""A lesson from a task: an entry of the memory, and a line of the pool's ledger."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Annotated, Any, Self

from ...schema.values.codec import SKIPPED, from_value, stored, to_value
from ...schema.values.errors import InputError
from ...schema.values.problems import quoted
from ...schema.values.secrets import scrubbed
from ...schema.values.values import is_list, is_mapping
from .shape import misshapen

LONGEST_TASK = 8_000
"""The number of a task's characters that are compared; no embedder reads more."""


@stored(omit=True, closed=True)
class OperatorOutcome:
    """The result and the reward of an operator (EvoMAS §3.2: a step of an evolution trace).

    Attributes:
        component: The component that its edits touched, if only one.
        team: The content hash of the resulting team.
        reward: That team's reward on the task.
    """

    operator: str
    component: str | None = None
    team: str | None = None
    reward: float | None = None


@stored(omit=True, closed=True)
class Learnt:
    """An entry of the memory: a lesson and its owners (EvoMAS §3.2.4: task, team, summary).

    Attributes:
        kind: The writer's name of its kind: `evolution`, `lesson` and others.
        task: The task's text; searches use its first `LONGEST_TASK` characters.
        text: The lesson, in words for people and models.
        owner: The agent of the pool that owns it; None: all agents, unless `to` is set.
        to: The agents of the pool that own it, if several: one line for all of them.
        giver: The agent of the pool that it comes from, if another.
        level: The writer's name of its scope: `task`, `subdomain`, `cross_domain`.
        case: The id of the task that it comes from.
        turn: The round of the run in which it was said, by the giver, or else by the owner.
        credit: Its value for its finder, in the writer's unit.
        replaces: The ids of earlier entries that it replaces for its owners. The earlier entries
            stay, and remain visible for other owners.
        team: The content hash of the team that it is about.
        reward: The team's reward on the task: score less the cost's share.
        run: The run, or the recipe, that it comes from.
        id: Its unique id: the operation that committed it.
    """

    kind: str
    task: str
    text: str
    niche: str | None = None
    owner: str | None = None
    to: tuple[str, ...] = ()
    giver: str | None = None
    level: str | None = None
    case: str | None = None
    turn: int | None = None
    credit: float | None = None
    replaces: tuple[str, ...] = ()
    team: str | None = None
    operators: tuple[OperatorOutcome, ...] = ()
    reward: float | None = None
    run: str | None = None
    id: Annotated[str, SKIPPED] = ""

    @property
    def owners(self) -> tuple[str, ...]:
        """Its owners; empty: all agents."""
        return self.to if self.owner is None else (self.owner,)

    @property
    def key(self) -> str:
        """A UUID that changes with every field that searches use."""
        owner = self.to or self.owner
        found_by = (self.id, self.kind, self.niche, owner, self.level, self.task)
        text = repr(found_by).encode("utf-8", "backslashreplace")
        digits = hashlib.blake2b(text, digest_size=16).hexdigest()
        return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))

    def value(self) -> dict[str, Any]:
        """Return its ledger line, without anything that looks like a secret key.

        Raises:
            InputError: A field does not match `ledger.schema.json`, or it has both `owner` and
                `to`.
        """
        if problem := self._problem():
            raise InputError(f"what was learnt cannot be kept: {problem}.")
        value = {"kind": "learnt", "entry": _scrubbed(to_value(self))}
        if words := next(misshapen(value), None):
            raise InputError(f"what was learnt cannot be kept: {words}.")
        return value

    @classmethod
    def of(cls, value: Mapping[str, Any], op: str = "") -> Self:
        """Read it from a ledger line that an operation committed.

        Raises:
            ValueError: It has both `owner` and `to`.
        """
        entry = from_value(cls, value["entry"])
        vars(entry)["id"] = op  # nobody has seen it yet; a pool has too many to copy each
        if problem := entry._problem():
            raise ValueError(problem)
        return entry

    def _problem(self) -> str:
        if self.owner is None or not self.to:
            return ""
        return (
            f"it has the owner {quoted(self.owner)}, but to names {quoted(self.to[0])}. Name all"
            " agents under to, and no owner"
        )


def _scrubbed(value: Any) -> Any:
    """Remove secrets from the texts of a plain value."""
    if isinstance(value, str):
        # Half of a surrogate pair, which a model's answer can hold, is no text.
        return scrubbed(value.encode("utf-8", "replace").decode())
    if is_list(value):
        return [_scrubbed(item) for item in value]
    return {key: _scrubbed(item) for key, item in value.items()} if is_mapping(value) else value
