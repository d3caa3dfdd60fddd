"""What agents made of a task's repository: what each of them starts from, and what it passes on.

A change is to an agent what a commit is to git: the work of one agent, on top of the changes that
it started from. The rule is the same for every topology:

* Whoever changed the repository passes on its own change, which holds all that it started from.
* Everybody else passes on what reached it: whoever cannot edit, and whoever failed.
* An agent starts from all that reached it and from its own change of the round before, but for
  what another of these changes holds already. Several are merged, as git merges branches.

So nothing that was made is lost on its way, and nothing counts twice. One change is put in the
place of others on purpose only, by an agent that chooses: its own change then holds the text of the
chosen one alone, on top of all that it chose from.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from ..record.journal import digest


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class RepositoryChange:
    """What an agent made of a repository. Two that are made alike are the same.

    Attributes:
        patch: The repository's difference from the task's own state, as a git diff.
        onto: The changes that the agent started from; none of them holds another.
        key: Names it: the same change has the same key in every run.
    """

    agent: str
    patch: str
    onto: tuple[RepositoryChange, ...] = ()
    key: str = field(init=False)

    def __post_init__(self) -> None:
        onto = [change.key for change in self.onto]
        object.__setattr__(self, "key", digest(self.agent, self.patch, onto))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, RepositoryChange) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)

    @property
    def held(self) -> frozenset[RepositoryChange]:
        """The changes that are in this one: what it started from, what these did, and so on."""
        changes: set[RepositoryChange] = set()
        pending = [*self.onto]
        while pending:
            change = pending.pop()
            if change not in changes:
                changes.add(change)
                pending += change.onto
        return frozenset(changes)


def newest(changes: Iterable[RepositoryChange]) -> tuple[RepositoryChange, ...]:
    """Leave out what others of these changes hold already: each once, in the order given."""
    distinct = tuple(dict.fromkeys(changes))
    if len(distinct) < 2:
        return distinct
    held = frozenset[RepositoryChange]().union(*(change.held for change in distinct))
    return tuple(change for change in distinct if change not in held)


def passed_on(
    agent: str, patch: str | None, start: Sequence[RepositoryChange]
) -> tuple[RepositoryChange, ...]:
    """Return what an agent passes on to those that read its report.

    Args:
        patch: What it made of the repository; None or empty, where it changed nothing or failed.
    """
    return (
        (RepositoryChange(agent=agent, patch=patch, onto=tuple(start)),) if patch else tuple(start)
    )
