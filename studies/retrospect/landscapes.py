"""Worlds of a team that fails for known reasons: the numbers by which one works."""

from __future__ import annotations

import random
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = [
    "CRAFTS",
    "DETAILS",
    "RANGES",
    "RODS",
    "WORLDS",
    "Landscape",
    "Member",
    "drawn",
    "landscape",
    "level",
    "sound",
]

CRAFTS = (
    *("mason", "carpenter", "surveyor", "smith"),
    *("glazier", "thatcher", "plumber", "painter"),
)
"""What parts of an order are the work of. Orders of one world want five of them."""
RODS = (
    *("from the top", "from the left", "from the door"),
    *("from the ridge", "from the sill", "from the well"),
)
"""From where somebody counts a measure; who takes it for another one misreads it."""
DETAILS = ("grade", "grain", "slope", "gauge", "seam", "finish")
"""What a measure may tell beside its number, and what a craft may need to be told with it."""
WANTED = 5

RANGES: Mapping[str, tuple[float, float]] = MappingProxyType(
    {
        "able": (0.85, 0.97),
        "stranger": (0.05, 0.3),
        "misread": (0.05, 0.3),
        "vague": (0.05, 0.3),
        "clutter": (0.05, 0.25),
        "stray": (0.02, 0.1),
        "curious": (0.6, 0.95),
        "candid": (0.6, 0.95),
        "heed": (0.6, 0.95),
        "rash": (0.1, 0.5),
        "frank": (0.6, 0.95),
        "understood": (0.6, 0.95),
        "heard": (0.6, 0.95),
        "hasty": (0.05, 0.3),
        "span": (10_000.0, 60_000.0),
    }
)
"""What each number of a world is drawn from, evenly."""
LEVEL = (0.3, 0.8)
"""What the one chance of a level world is drawn from."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Member:
    """Somebody of a craft.

    Attributes:
        craft: Which.
        rod: From where it counts.
        source: Whose measures parts of its craft may need; None: nobody's.
        need: What it needs to be told with such a measure; None: the number is enough.
    """

    craft: str
    rod: str
    source: str | None = None
    need: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Landscape:
    """The numbers of a world. From `able` to `vague` they are chances that a part comes out right.

    Attributes:
        name: What it is called.
        members: Those who are in the team at first, beside its lead.
        missing: The craft of which there is nobody; None: there is somebody of each.
        able: Where somebody of its craft has all that the part needs.
        stranger: Where nobody of its craft works on it.
        misread: Where a measure is taken for another one.
        vague: Where a measure lacks what the craft needs to be told, or there is none.
        clutter: What each note that is of no use takes away, on log odds.
        stray: How often a part goes astray for each candidate of whom no order wants anything.
        curious: How often an agent asks who worked with its measure, where the part is wrong.
        candid: How often the answer is right.
        heed: How often an agent that was told what its measures lack makes a rule of it.
        rash: How often one that was told nothing guesses what they lack.
        frank: How often the lead says rightly which craft was missing.
        understood: How often one who hears from where a colleague counts notes it rightly.
        heard: How often a team that was told of a missing craft takes in somebody of it.
        hasty: How often one that was told of nothing changes something nevertheless.
        span: Characters of a flat trace for each of which what an analyser knows surely is
            divided by e.
        luck: Whose luck it is; nobody's in particular, and then it is the same for all arms.
    """

    name: str
    members: tuple[Member, ...]
    missing: str | None
    able: float
    stranger: float
    misread: float
    vague: float
    clutter: float
    stray: float
    curious: float
    candid: float
    heed: float
    rash: float
    frank: float
    understood: float
    heard: float
    hasty: float
    span: float
    luck: str

    @property
    def crafts(self) -> tuple[str, ...]:
        """The crafts that orders want."""
        return (*(one.craft for one in self.members), *filter(None, [self.missing]))

    def member(self, craft: str) -> Member | None:
        """Find who is of a craft, of those who are in the team at first."""
        return next((one for one in self.members if one.craft == craft), None)


def drawn(seed: int, luck: str = "") -> Landscape:
    """Draw a world with three sorts of defects; the same for the same number.

    The first two members count from different places. The other two leave out what the other one
    needs. The fifth craft is missing.

    Args:
        seed: Which.
        luck: Whose luck it is; no arm's in particular, so all have the same.
    """
    del luck
    source = random.Random(f"retrospect {seed}")  # noqa: S311 - guards nothing
    *there, missing = source.sample(CRAFTS, WANTED)
    one, other, rest = source.sample(RODS, 3)
    needs = source.sample(DETAILS, 2)
    pairs = zip(there, (there[1], there[0], there[3], there[2]), strict=True)
    members = tuple(
        Member(craft=craft, source=colleague, rod=rod, need=need)
        for (craft, colleague), rod, need in zip(
            pairs, (one, other, rest, rest), (None, None, *needs), strict=True
        )
    )
    return Landscape(
        name=f"drawn {seed}", members=members, missing=missing, luck="", **_within(RANGES, source)
    )


def sound(seed: int, luck: str = "") -> Landscape:
    """Draw a world without a defect, in which wrong notes do as much harm as elsewhere.

    Args:
        seed: Which.
        luck: Whose luck it is; no arm's in particular, so all have the same.
    """
    del luck
    source = random.Random(f"retrospect, sound {seed}")  # noqa: S311 - guards nothing
    crafts, rod = source.sample(CRAFTS, WANTED), source.choice(RODS)
    sources = (crafts[1], crafts[0], crafts[3], crafts[2], None)
    members = tuple(
        Member(craft=craft, rod=rod, source=of) for craft, of in zip(crafts, sources, strict=True)
    )
    return Landscape(
        name=f"sound {seed}", members=members, missing=None, luck="", **_within(RANGES, source)
    )


def level(seed: int, luck: str) -> Landscape:
    """Draw a world as `drawn`, in which nothing that anybody does, lacks or notes has an effect.

    Args:
        seed: Which.
        luck: Whose luck it is: with one luck for all arms these would be one.
    """
    world = drawn(seed)
    source = random.Random(f"retrospect, level {seed}")  # noqa: S311 - guards nothing
    chance = source.uniform(*LEVEL)
    numbers = {**_within(RANGES, source), **dict.fromkeys(("clutter", "stray"), 0.0)}
    numbers |= dict.fromkeys(("able", "stranger", "misread", "vague"), chance)
    return Landscape(
        name=f"level {seed}", members=world.members, missing=world.missing, luck=luck, **numbers
    )


WORLDS = MappingProxyType({"drawn": drawn, "sound": sound, "level": level})
"""The sorts of worlds by name."""


def landscape(kind: str, seed: int, luck: str) -> Landscape:
    """Draw a world of a sort."""
    return WORLDS[kind](seed, luck)


def _within(ranges: Mapping[str, tuple[float, float]], source: random.Random) -> dict[str, float]:
    return {name: source.uniform(*bounds) for name, bounds in ranges.items()}
