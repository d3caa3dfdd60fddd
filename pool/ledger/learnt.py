"""What was learnt from a task: an entry of the memory, and a line of the pool's ledger."""

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
"""Characters of a task by which it is compared with others; no embedder reads more."""


@stored(omit=True, closed=True)
class OperatorOutcome:
    """What an operator made, and what it was worth (EvoMAS §3.2: a step of an evolution trace).

    Attributes:
        component: The component that its edits touched, where it is one.
        team: The content hash of the team that it made.
        reward: That team's reward on the task.
    """

    operator: str
    component: str | None = None
    team: str | None = None
    reward: float | None = None


@stored(omit=True, closed=True)
class Learnt:
    """An entry of the memory: what a task taught, and whom (EvoMAS §3.2.4: task, team, summary).

    Attributes:
        kind: What sort of entry it is, as its writer calls it: `evolution`, `lesson` and others.
        task: The task's text, by the first `LONGEST_TASK` characters of which it is found.
        text: What was learnt, in words for people and models.
        owner: The agent of the pool whose it is; None: everybody's, unless it is `to` some.
        to: The agents of the pool whose it is, where it is several's: one line, however many.
        giver: The agent of the pool that it comes from, where that is another.
        level: How far it reaches, as its writer calls it: `task`, `subdomain`, `cross_domain`.
        case: The id of the task that it comes from.
        turn: The round of its run in which it was said; its sayer is the giver, or else the owner.
        credit: What it was worth to whoever found it out, in the unit of its writer.
        replaces: The ids of earlier entries that it stands for. They stay, and those whose it is
            find them no more; whoever else has them keeps them.
        team: The content hash of the team that it is about.
        reward: The team's reward on the task: score less the cost's share.
        run: The run, or the recipe, that it comes from.
        id: What no other entry is called: the operation under which it was committed.
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
        """Whose it is; nobody: everybody's."""
        return self.to if self.owner is None else (self.owner,)

    @property
    def key(self) -> str:
        """A UUID that changes with everything by which the entry is found."""
        owner = self.to or self.owner
        found_by = (self.id, self.kind, self.niche, owner, self.level, self.task)
        text = repr(found_by).encode("utf-8", "backslashreplace")
        digits = hashlib.blake2b(text, digest_size=16).hexdigest()
        return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))

    def value(self) -> dict[str, Any]:
        """Return the ledger's line of it, without what looks like a secret key.

        Raises:
            InputError: A field is not as `ledger.schema.json` has it, or it has both an owner and
                others that it is to.
        """
        if problem := self._problem():
            raise InputError(f"what was learnt cannot be kept: {problem}.")
        value = {"kind": "learnt", "entry": _scrubbed(to_value(self))}
        if words := next(misshapen(value), None):
            raise InputError(f"what was learnt cannot be kept: {words}.")
        return value

    @classmethod
    def of(cls, value: Mapping[str, Any], op: str = "") -> Self:
        """Read a ledger's line, which was committed under an operation.

        Raises:
            ValueError: It has both an owner and others that it is to.
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
            f"its owner is {quoted(self.owner)}, and it is to {quoted(self.to[0])}: whose it is, is"
            " said once. Name all of them under to, and no owner"
        )


def _scrubbed(value: Any) -> Any:
    """Make the texts of a plain value fit to be kept."""
    if isinstance(value, str):
        # Half of a surrogate pair, which a model's answer can hold, is no text.
        return scrubbed(value.encode("utf-8", "replace").decode())
    if is_list(value):
        return [_scrubbed(item) for item in value]
    return {key: _scrubbed(item) for key, item in value.items()} if is_mapping(value) else value
