"""What an operator is given, and what comes of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self

from ...schema.edits import Component, Edit, words
from ...schema.team.team import Team
from .material import clip

MOST_WORDS = 12
LONGEST_WORDS = 300
"""Characters of what is said of one thing that differs."""
INDENT = "    "
"""What the lines begin with that show a difference in full."""


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

    @property
    def was_run(self) -> bool:
        """Whether anything is told of how it did."""
        return bool(self.digest) or self.reward is not None


@dataclass(frozen=True, kw_only=True, slots=True)
class Proposal:
    """A child that loads and is below the ceiling.

    Attributes:
        parents: The names of its parents; the first gave the topology.
        base: The first parent, as it was.
        edits: What leads from it to the child.
        reason: Why, in the words of the model or of the operator.
        child: The child. It has the first parent's name and no lineage until it is kept.
        component: The only component that the edits touch, where the operator touches only one.
    """

    operator: str
    parents: tuple[str, ...]
    base: Team
    edits: tuple[Edit, ...]
    reason: str
    child: Team
    component: Component | None = None

    @classmethod
    def of(
        cls,
        operator: str,
        base: Team,
        edits: tuple[Edit, ...],
        *,
        reason: str,
        child: Team,
        others: tuple[Team, ...] = (),
        component: Component | None = None,
    ) -> Self:
        """Propose the child that edits make of a team, and perhaps of other parents beside it."""
        return cls(
            operator=operator,
            parents=(base.name, *(team.name for team in others)),
            base=base,
            edits=edits,
            reason=reason,
            child=child,
            component=component,
        )

    @property
    def words(self) -> tuple[str, ...]:
        """What differs from the first parent, as `edit_words` says it; empty where nothing does."""
        return edit_words(self.base, self.child)


@dataclass(frozen=True, kw_only=True, slots=True)
class RejectedProposal:
    """There is no child: what the model answered is of no use, also after one repair.

    Attributes:
        problems: What was wrong with the last answer.
    """

    operator: str
    reason: str
    problems: tuple[str, ...] = ()
    parents: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """Why, and what was wrong, a line for each problem."""
        return "\n  - ".join([f"{self.operator}: {self.reason}", *self.problems])


def edit_words(before: Team, after: Team) -> tuple[str, ...]:
    """Return what differs between two teams so that one can learn from it: also what texts say now.

    Where a team's lineage only counts lines, `prompt of judge: -1 line, +1 line`, these are given,
    as far as there is room.
    """
    texts = [clip(sentence, LONGEST_WORDS) for sentence in _sentences(before, after)]
    more = (f"and {len(texts) - MOST_WORDS} more",) if len(texts) > MOST_WORDS else ()
    return (*texts[:MOST_WORDS], *more)


def _sentences(before: Team, after: Team) -> Iterator[str]:
    """Yield each difference on one line, without what stays as it is."""
    parts: list[str] = []
    for line in words(before, after):
        if not line.startswith(INDENT):
            if parts:
                yield " ".join(parts)
            parts = [line]
        elif line[len(INDENT) :].startswith(("+", "-")):
            parts.append(line.strip())
    if parts:
        yield " ".join(parts)
