"""What those who look back make of what they are shown: right conclusions, and wrong ones.

Everything is a function of the world, of the order, and of what stands in a question; whoever asks
the same twice is answered the same.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeVar

from .landscapes import CRAFTS, DETAILS, RODS
from .world import chance

if TYPE_CHECKING:
    import random
    from collections.abc import Collection, Iterable, Sequence

    from .landscapes import Landscape
    from .world import Measure, Order, Part

__all__ = [
    "Remedy",
    "analysed",
    "asks",
    "lacked",
    "missed",
    "reorganised",
    "rule_for",
    "understood",
]

Named = TypeVar("Named")
Kind = Literal["patch", "profile", "newcomer", "rule"]
KINDS: tuple[Kind, ...] = ("patch", "profile", "newcomer", "rule")


@dataclass(frozen=True, kw_only=True, slots=True)
class Remedy:
    """What somebody wants to change.

    Attributes:
        kind: A rule of conduct of an agent; a note of one on how a colleague counts; a newcomer; a
            rule for all.
        craft: Whose notes change, or who comes.
        other: Of whom something is noted.
        says: The detail, or the rod.
    """

    kind: Kind
    craft: str = ""
    other: str = ""
    says: str = ""


RULE = Remedy(kind="rule")


def asks(world: Landscape, order: Order, agent: str, part: Part) -> bool:
    """Tell whether an agent asks who worked with its measure, where the part is wrong."""
    return _of(world, order, "curious", agent, part).random() < world.curious


def lacked(world: Landscape, order: Order, part: Part, measure: Measure | None) -> str | None:
    """Name what a measure lacked, as who worked with it says when it is asked.

    Args:
        world: Where.
        order: The order.
        part: The part that it was for.
        measure: The measure, as it came; None: none did.

    Returns:
        The detail; None: nothing.
    """
    source = _of(world, order, "candid", part.craft, part)
    member = world.member(part.craft)
    need = member.need if member else None
    truth = None if measure is None or need in (*measure.details, None) else need
    if source.random() < world.candid:
        return truth
    return source.choice(_without(DETAILS, truth))


def rule_for(
    world: Landscape,
    order: Order,
    agent: str,
    part: Part,
    *,
    told: Sequence[str | None],
    has: Collection[str],
) -> str | None:
    """Name the detail that an agent makes it a rule to tell, after a part with its measure failed.

    Args:
        world: Where.
        order: The order.
        agent: The agent.
        part: The part.
        told: What the colleague said that the measure lacked; empty, where it said nothing.
        has: The details that the agent tells by rule already.

    Returns:
        The detail; None: it makes no rule.
    """
    source = _of(world, order, "rule", agent, part)
    luck, guess = source.random(), [one for one in DETAILS if one not in has]
    if told:
        [detail, *_] = told
        return detail if detail not in {*has, None} and luck < world.heed else None
    return source.choice(guess) if guess and luck < world.rash else None


def missed(world: Landscape, order: Order, part: Part) -> str:
    """Name the craft that was missing for a part, as the lead tells its team."""
    source = _of(world, order, "frank", "lead", part)
    is_frank = source.random() < world.frank
    return part.craft if is_frank else source.choice(_without(CRAFTS, part.craft))


def understood(
    world: Landscape, order: Order, agent: str, other: str, *, rod: str, taken: str
) -> str | None:
    """Name the place from where a colleague counts, as an agent notes it after it was told.

    Args:
        world: Where.
        order: The order.
        agent: Who notes it.
        other: Of whom.
        rod: What the colleague said.
        taken: From where the agent took it to count.

    Returns:
        The place; None: it notes nothing new.
    """
    source = chance(world, order.title, "understood", agent, other)
    noted = rod if source.random() < world.understood else source.choice(_without(RODS, rod))
    return noted if noted != taken else None


def reorganised(
    world: Landscape, order: Order, named: Sequence[str], crafts: Collection[str]
) -> Remedy | None:
    """Say what a team changes of itself.

    Args:
        world: Where.
        order: The order.
        named: The crafts that summaries name as missing.
        crafts: Those that are in the team.
    """
    source = chance(world, order.title, "reorganise")
    luck, is_rule = source.random(), source.random() < 0.5
    absent = _without(CRAFTS, *crafts)
    lacking = [one for one in named if one in absent]
    if lacking:
        craft, *_ = lacking
        others = _without(absent, craft)
        if luck >= world.heard and others:
            craft = source.choice(others)
        return Remedy(kind="newcomer", craft=craft)
    if luck >= world.hasty:
        return None
    return RULE if is_rule or not absent else Remedy(kind="newcomer", craft=source.choice(absent))


def analysed(
    world: Landscape, order: Order, part: Part, truth: Remedy | None, length: int
) -> Remedy | None:
    """Say what an analyser makes of a wrong part, who has read all that happened in one piece.

    Args:
        world: Where.
        order: The order.
        part: The part.
        truth: What would mend it; None: it was bad luck.
        length: Characters that it read.
    """
    source = _of(world, order, "analysed", "all", part)
    if source.random() < math.exp(-length / world.span):
        return truth
    return _guessed(world, source) if source.random() < world.rash else None


def _guessed(world: Landscape, source: random.Random) -> Remedy:
    kind = source.choice(KINDS)
    there = [one.craft for one in world.members]
    one = source.choice([one for one in world.members if one.source])
    match kind:
        case "patch":
            return Remedy(kind=kind, craft=one.craft, says=source.choice(DETAILS))
        case "profile":
            rod = source.choice(RODS)
            return Remedy(kind=kind, craft=one.craft, other=str(one.source), says=rod)
        case "newcomer":
            return Remedy(kind=kind, craft=source.choice(_without(CRAFTS, *there)))
        case "rule":
            return RULE


def _of(world: Landscape, order: Order, what: str, agent: str, part: Part) -> random.Random:
    return chance(world, order.title, what, agent, part.number)


def _without(all_of: Iterable[Named], *some: object) -> list[Named]:
    return [one for one in all_of if one not in some]
