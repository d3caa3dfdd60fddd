"""Agents' changes to a task's repository: what each agent starts from, and what it passes on.

A change is to an agent what a commit is to git: the work of one agent, on top of the changes that
it started from. The rule is the same for every topology:

* An agent that changed the repository passes on its own change, which includes all that it started
  from.
* Any other agent passes on the changes that it received: if it cannot edit, or failed.
* An agent starts from all changes that it received and from its own change of the round before,
  except those that another of these includes. Several are merged, as git merges branches.

So no change is lost on its way, and none counts twice. Only an agent that chooses replaces changes
by one: its own change then holds the text of the chosen one alone, on top of all that it chose
from.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from ..record.journal import digest


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class RepositoryChange:
    """An agent's change to a repository. Changes with the same history are equal.

    Attributes:
        patch: The repository's difference from the task's own state, as a git diff.
        onto: The changes that the agent started from; none of them includes another.
        key: Its id: the same change has the same key in every run.
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
        """All changes that this one includes, directly or through others."""
        changes: set[RepositoryChange] = set()
        pending = [*self.onto]
        while pending:
            change = pending.pop()
            if change not in changes:
                changes.add(change)
                pending += change.onto
        return frozenset(changes)


def newest(changes: Iterable[RepositoryChange]) -> tuple[RepositoryChange, ...]:
    """Remove changes that others include, and repetitions; the order is kept."""
    distinct = tuple(dict.fromkeys(changes))
    if len(distinct) < 2:
        return distinct
    held = frozenset[RepositoryChange]().union(*(change.held for change in distinct))
    return tuple(change for change in distinct if change not in held)


def passed_on(
    agent: str, patch: str | None, start: Sequence[RepositoryChange]
) -> tuple[RepositoryChange, ...]:
    """Return the changes that an agent passes on to the readers of its report.

    Args:
        patch: The agent's change to the repository; None or empty if it changed nothing or failed.
    """
    return (
        (RepositoryChange(agent=agent, patch=patch, onto=tuple(start)),) if patch else tuple(start)
    )
