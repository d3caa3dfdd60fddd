"""A pool as a task of an evolution sees it: what came of the tasks before it, and nothing later."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from ..pool.layout import LEDGER
from ..pool.ledger import START, Ledger
from ..pool.state import State

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from ..pool.members import Member

__all__ = ["View", "op", "turn_of"]


def op(evolution: str, turn: int, what: str) -> str:
    """Name an update of a pool, so that it counts once: `evomas/000012/best`."""
    return f"{evolution}/{turn:06d}/{what}"


def turn_of(evolution: str, operation: str) -> int | None:
    """Tell which turn of an evolution made an update; None where another one did."""
    name, slash, rest = operation.rpartition(f"{evolution}/")
    turn = rest.partition("/")[0]
    return int(turn) if slash and not name and turn.isdecimal() else None


class View:
    """The teams of a pool up to a turn of an evolution, which takes its turns in order.

    After a crash the ledger holds later turns already. So that a task sees the same again, the view
    is made from the ledger's lines, and stops at the first that a later turn wrote.

    Args:
        folder: The pool's folder.
        evolution: The evolution's name.
    """

    def __init__(self, folder: Path, evolution: str) -> None:
        self._ledger = Ledger(folder / LEDGER)
        self._state = State(folder)
        self._place = START
        self._evolution = evolution

    def catch_up(self, turn: int) -> None:
        """Take in what happened up to a turn, by whomever.

        Raises:
            StorageError: The ledger is damaged.
        """
        for entry in self._ledger.read(self._place):
            own = turn_of(self._evolution, entry.op)
            if own is not None and own > turn:
                return
            self._state.take(entry)
            self._place = entry.end

    @property
    def members(self) -> Mapping[str, Member]:
        """The teams by name, in the order of their births, as they are at this turn.

        Whoever has them keeps them so: a turn may begin to look only after later ones have begun.
        """
        return MappingProxyType(
            {name: member.as_it_is() for name, member in self._state.live.items()}
        )
