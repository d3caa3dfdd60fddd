"""The input and the result of an operator: a parent, and a proposed child."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self

from ...schema.edits import Component, Edit, words
from ...schema.team.team import Team
from .material import clip

MOST_WORDS = 12
LONGEST_WORDS = 300
"""Characters of the description of one difference."""
INDENT = "    "
"""The start of lines that show a difference in full."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Parent:
    """A team and its result on the task (EvoMAS §3.2.2: `C_i` and its execution feedback).

    Attributes:
        team: The team. Operators never change it.
        digest: The `digest` of its run; empty if it was not run.
        reward: Its score minus its weighted cost (EvoMAS Eq. 4), if known.
    """

    team: Team
    digest: str = ""
    reward: float | None = None

    @property
    def was_run(self) -> bool:
        """Whether a digest or a reward of its run is present."""
        return bool(self.digest) or self.reward is not None


@dataclass(frozen=True, kw_only=True, slots=True)
class Proposal:
    """A child that loads and stays below the ceiling.

    Attributes:
        parents: The names of its parents; the first gave the topology.
        base: The first parent, unchanged.
        child: The child. It has the first parent's name and no lineage until it is kept.
        component: The only component that the edits touch, for an operator that edits only one.
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
        """Return the proposal of a child that edits make of `base`, perhaps with other parents."""
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
        """The differences from the first parent, as `edit_words` describes them."""
        return edit_words(self.base, self.child)


@dataclass(frozen=True, kw_only=True, slots=True)
class RejectedProposal:
    """No child: the model gave no valid answer, also after one repair.

    Attributes:
        problems: The problems of the last answer.
    """

    operator: str
    reason: str
    problems: tuple[str, ...] = ()
    parents: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The reason, and one line for each problem."""
        return "\n  - ".join([f"{self.operator}: {self.reason}", *self.problems])


def edit_words(before: Team, after: Team) -> tuple[str, ...]:
    """Return the differences between two teams, with the new texts, so that a model can learn.

    A team's lineage only counts lines, as in `prompt of judge: -1 line, +1 line`; this function
    quotes the lines, as far as there is room.
    """
    texts = [clip(sentence, LONGEST_WORDS) for sentence in _sentences(before, after)]
    more = (f"and {len(texts) - MOST_WORDS} more",) if len(texts) > MOST_WORDS else ()
    return (*texts[:MOST_WORDS], *more)


def _sentences(before: Team, after: Team) -> Iterator[str]:
    """Yield each difference on one line, without the unchanged lines."""
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
