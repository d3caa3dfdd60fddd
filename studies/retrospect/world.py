"""Which parts of an order come out right.

Everything is a function of the world, of the order, and of what who works on a part has at hand.
"""

from __future__ import annotations

import functools
import math
import random
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Iterable

    from .landscapes import Landscape

__all__ = [
    "LETTERS",
    "SORTS",
    "Hands",
    "Measure",
    "Order",
    "Part",
    "Sort",
    "Split",
    "chance",
    "chance_right",
    "measured",
    "order_of",
    "shifted",
    "strayed",
    "title",
    "worked",
]

LETTERS = "ABCDEFGH"
PLAIN = 3
"""Parts of an order that need no measure, of crafts that are there."""
MOST_MEASURED = 99

Split = Literal["learn", "test"]
"""Orders by which a team evolves, and those by which it is evaluated."""
Sort = Literal["plain", "missing", "misread", "vague"]
SORTS: tuple[Sort, ...] = ("plain", "missing", "misread", "vague")
"""Parts by what is in the way of them in a drawn world."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Part:
    """A part of an order, as nobody in the world sees it whole.

    Attributes:
        number: Its number, from 1.
        craft: Whose work it is.
        source: Whose measure it needs; None: nobody's.
        sort: What is in the way of it in a drawn world.
        answer: The right letter.
    """

    number: int
    craft: str
    source: str | None
    sort: Sort
    answer: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Order:
    """A task: some parts, of which each comes out right or wrong."""

    title: str
    parts: tuple[Part, ...]

    @property
    def answer(self) -> str:
        """The right letter of each part."""
        return " ".join(f"Part {one.number}: {one.answer}." for one in self.parts)


@dataclass(frozen=True, kw_only=True, slots=True)
class Measure:
    """What somebody is told for a part.

    Attributes:
        part: Its number.
        source: Who measured.
        number: What came of it.
        details: What is told with it.
    """

    part: int
    source: str
    number: int
    details: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Hands:
    """What who works on a part has at hand.

    Attributes:
        craft: Its craft; None: none.
        rod: From where it takes the measure to be counted.
        measure: The measure; None: it has none.
        idle: How many of the notes that it reads are of no use to anybody.
    """

    craft: str | None
    rod: str
    measure: Measure | None = None
    idle: int = 0


def title(split: Split, seed: int, number: int) -> str:
    """Name an order: what it is for, its stream, and its own number."""
    return f"Order {split} {seed}/{number}"


@functools.lru_cache(maxsize=1_000)
def order_of(world: Landscape, named: str) -> Order:
    """Make an order: one part of each craft, with what it needs, and some that need nothing."""
    source = chance(world, named)
    wanted = [(craft, True) for craft in world.crafts]
    present = [one.craft for one in world.members]
    wanted += [(source.choice(present), False) for _ in range(PLAIN)]
    source.shuffle(wanted)
    parts = (
        _part(world, number, craft, source.choice(LETTERS), measured=measured)
        for number, (craft, measured) in enumerate(wanted, 1)
    )
    return Order(title=named, parts=tuple(parts))


def _part(world: Landscape, number: int, craft: str, answer: str, *, measured: bool) -> Part:
    member = world.member(craft)
    source = member.source if member and measured else None
    sort: Sort = "plain"
    if member is None:
        sort = "missing"
    elif member.need is not None and source:
        sort = "vague"
    elif source:
        sort = "misread"
    return Part(number=number, craft=craft, source=source, sort=sort, answer=answer)


def measured(world: Landscape, order: Order, part: Part) -> int:
    """Give what comes of measuring for a part, which is the same whoever does it."""
    return chance(world, order.title, "measure", part.number).randint(1, MOST_MEASURED)


def worked(world: Landscape, order: Order, part: Part, hands: Hands) -> str:
    """Work on a part: give a letter.

    Args:
        world: Where.
        order: The order.
        part: The part.
        hands: What who works on it has at hand.
    """
    source = chance(world, world.luck, order.title, "work", part.number)
    luck, wrong = source.random(), source.choice([one for one in LETTERS if one != part.answer])
    return part.answer if luck < chance_right(world, part, hands) else wrong


def chance_right(world: Landscape, part: Part, hands: Hands) -> float:
    """Give the chance that a part comes out right.

    Args:
        world: Where.
        part: The part.
        hands: What who works on it has at hand.
    """
    return shifted(_unhindered(world, part, hands), -world.clutter * hands.idle)


def _unhindered(world: Landscape, part: Part, hands: Hands) -> float:
    member = world.member(part.craft)
    if hands.craft != part.craft:
        return world.stranger
    if part.source is None or member is None:
        return world.able
    if hands.measure is None or (member.need and member.need not in hands.measure.details):
        return world.vague
    source = world.member(part.source)
    is_read = source is not None and hands.rod == source.rod
    return world.able if is_read else world.misread


def strayed(world: Landscape, order: Order, part: Part, others: Iterable[str]) -> str | None:
    """Name the craft to whom a part goes astray; None: it goes where it belongs.

    Args:
        world: Where.
        order: The order.
        part: The part.
        others: The crafts of candidates of whom no order wants anything.
    """
    for other in others:
        if chance(world, order.title, "stray", part.number, other).random() < world.stray:
            return other
    return None


def shifted(right: float, odds: float) -> float:
    """Add to the log odds of a chance, which is neither 0 nor 1."""
    return 1 / (1 + (1 - right) / right * math.exp(-odds))


def chance(world: Landscape, *what: object) -> random.Random:
    """Give the luck of something in a world: the same for the same, whatever else happens."""
    name = "/".join(map(str, ("retrospect", world.name, *what)))
    return random.Random(name)  # noqa: S311 - guards nothing
