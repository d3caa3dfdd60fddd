"""What an operator is given, and what comes of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..schema.edits import Component, Edit
    from ..schema.team import Team

__all__ = ["Dropped", "Parent", "Proposal"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Parent:
    """A team, and how it did on the task (EvoMAS §3.2.2: `C_i` and its execution feedback).

    Attributes:
        team: The team. Whatever an operator comes to, it stays as it is.
        digest: What `digest` wrote of its run; empty where it was not run.
        reward: Its score less the cost's share (EvoMAS Eq. 4), where it is known.
    """

    team: Team
    digest: str = ""
    reward: float | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Proposal:
    """A child that loads and is below the ceiling.

    Attributes:
        operator: What made it.
        parents: The names of its parents; the first gave the topology.
        edits: What leads from the first parent to it.
        reason: Why, in the words of the model or of the operator.
        child: The child. It has the first parent's name and no lineage until it is kept.
        component: The only component that the edits touch, where the operator touches only one.
    """

    operator: str
    parents: tuple[str, ...]
    edits: tuple[Edit, ...]
    reason: str
    child: Team
    component: Component | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Dropped:
    """There is no child: what the model answered is of no use, also after one repair.

    Attributes:
        operator: What gave up.
        reason: Why, in a sentence.
        problems: What was wrong with the last answer.
        parents: The names of the parents.
    """

    operator: str
    reason: str
    problems: tuple[str, ...] = ()
    parents: tuple[str, ...] = ()
