"""A pool and its memory as an episode sees them: what came before it, and nothing later."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

from .view import turn_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..pool.experience import Experience
    from ..pool.members import Member
    from ..pool.memory import Memory

__all__ = ["NOTHING", "Seen"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Seen:
    """What an episode sees; it stays the same while later ones are committed.

    Attributes:
        members: The teams of the pool that are not retired.
        memory: Where experiences are kept; None: there is none.
        evolution: The evolution's name.
        last: The last of its episodes that is seen; -1: none.
        ahead: How many later ones may have been committed meanwhile.
    """

    members: Mapping[str, Member]
    memory: Memory | None
    evolution: str
    last: int
    ahead: int

    def recall(self, query: str, k: int) -> list[tuple[Experience, float]]:
        """Find experiences with similar tasks, but none of episodes that are not seen."""
        if self.memory is None or k == 0:
            return []
        # Memory may hold what episodes between the last that is seen and this one learnt.
        found = self.memory.search(query, k + self.ahead)
        known = [(one, near, turn_of(self.evolution, one.id)) for one, near in found]
        seen = [(one, near) for one, near, turn in known if turn is None or turn <= self.last]
        return seen[:k]


NOTHING = Seen(members=MappingProxyType({}), memory=None, evolution="", last=-1, ahead=0)
"""What a team that is tested as it stands sees of a pool."""
