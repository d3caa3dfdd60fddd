"""Actions as text: parsed as in the package, with the package's error messages."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

OUTPUT = 0
"""The slot of the crafted item. Slots 1 to 9 are the grid, row by row."""
FIRST_OF_INVENTORY = 10
LAST_SLOT = 45
LARGEST_QUANTITY = 64

_FROM = re.compile(r" from (\[[ABCI]?\d+\])")
_TO = re.compile(r" to (\[[ABCI]?\d+\])")
_QUANTITY = re.compile(r"with quantity (\d+)")
_GRID = {f"[{'ABC'[place // 3]}{place % 3 + 1}]": place + 1 for place in range(9)}
# For a missing part, the package shows Python's own message.
_MISSING = "'NoneType' object has no attribute 'group'"


@dataclass(frozen=True, kw_only=True, slots=True)
class Transfer:
    """Items go from one slot to another: unchanged (`move`), or through the furnace (`smelt`).

    Attributes:
        source: Slot 0 to 45.
        target: Slot 1 to 45.
        quantity: 1 to 64.
    """

    kind: Literal["move", "smelt"]
    source: int
    target: int
    quantity: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Impossible:
    """The agent gives up: the task cannot be done with these items."""

    reason: str = ""


Action = Transfer | Impossible


class _Unreadable(Exception):
    """A text is no action; the message is the package's."""


def read_action(text: str) -> Action | str:
    """Parse an action; return the package's error message if the text is none.

    As in the package, an action may be anywhere in the text; `move` is searched first, then
    `smelt`, then `impossible`. Each part of an action is taken from its first occurrence.
    """
    for kind in ("move", "smelt"):
        if f"{kind}:" in text:
            try:
                return _transfer(kind, text)
            except _Unreadable as error:
                form = f"{kind}: from [Source] to [Target] with quantity N"
                return f"Format Error: {error}. Correct format: `{form}`"
    if "impossible:" in text:
        _, words, reason = text.partition("impossible: ")
        if words:
            return Impossible(reason=reason.split("\n", 1)[0])
        return f"Format Error: {_MISSING}. Correct format: `impossible: <reason>`"
    return "Only select actions from the following: move, smelt, impossible"


def slot_name(slot: int) -> str:
    """Return a slot's name in observations: `[0]`, `[A1]` to `[C3]`, `[I1]` to `[I36]`."""
    if slot == OUTPUT:
        return "[0]"
    if slot >= FIRST_OF_INVENTORY:
        return f"[I{slot - FIRST_OF_INVENTORY + 1}]"
    return f"[{'ABC'[(slot - 1) // 3]}{(slot - 1) % 3 + 1}]"


def _transfer(kind: Literal["move", "smelt"], text: str) -> Transfer:
    matches = [pattern.search(text) for pattern in (_FROM, _TO, _QUANTITY)]
    source, target, quantity = (_part(item) for item in matches)
    action = Transfer(
        kind=kind, source=_slot(source), target=_slot(target), quantity=_number(quantity)
    )
    _check(action)
    return action


def _part(match: re.Match[str] | None) -> str:
    if match is None:
        raise _Unreadable(_MISSING)
    return match[1]


def _slot(name: str) -> int:
    """Return a slot's number, which may be beyond the last one."""
    if name == "[0]":
        return OUTPUT
    if name in _GRID:
        return _GRID[name]
    if len(name) not in {4, 5} or name[1] != "I" or name[2] == "0":
        raise _Unreadable("[Source] and [Target] must be [0] or [A1] to [C3] or [I1] to [I36]")
    return int(name[2:-1]) + FIRST_OF_INVENTORY - 1


def _number(digits: str) -> int:
    try:
        return int(digits)
    except ValueError:  # longer than Python reads
        raise _Unreadable("quantity must be an integer") from None


def _check(action: Transfer) -> None:
    if action.source == action.target:
        raise _Unreadable("[Source] and [Target] must be different")
    if action.source > LAST_SLOT:
        raise _Unreadable("[Source] must be [0] or [A1] to [C3] or [I1] to [I36]")
    if action.target == OUTPUT:
        raise _Unreadable(f"You cannot {action.kind} items into [0]")
    if action.target > LAST_SLOT:
        raise _Unreadable("[Target] must be [A1] to [C3] or [I1] to [I36]")
    if not 1 <= action.quantity <= LARGEST_QUANTITY:
        raise _Unreadable(f"quantity must be between 1 and {LARGEST_QUANTITY}")
