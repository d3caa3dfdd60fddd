"""Tasks of the landscape: sheets of letters, whose parts and their needs are hidden."""

from __future__ import annotations

import functools
import random
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["ASPECTS", "CRAFTS", "LETTERS", "SIZE", "Part", "Sheet", "sheet", "title"]

CRAFTS = (
    *("planner", "searcher", "reader", "reckoner"),
    *("coder", "comparer", "checker", "writer"),
)
"""What agents can be good at: the roles of the catalogue, of which each agent has one."""
ASPECTS = (
    *("Mind the units.", "Read to the end.", "Name your sources.", "Write each step down."),
    *("Look for exceptions.", "Keep to the form.", "Compare two ways.", "Ask what is missing."),
    *("Begin with what is known.", "Doubt round numbers.", "Count from behind.", "Say it shortly."),
)
"""What an agent can be coached to do."""
APT = 4
"""How many of the aspects help with a part."""
PARTS = (3, 4, 5)
SIZE = 60
"""Letters on a sheet, as many for each part."""
LETTERS = "ABCDE"


@dataclass(frozen=True, kw_only=True, slots=True)
class Part:
    """A part of a task.

    Attributes:
        craft: Who is good at it.
        needs: Numbers of the earlier parts whose working it needs.
        apt: By aspect that helps: how much more or less than usual, in [-1, 1].
        right: The right letters.
        fixed: By letter: the chance that decides on it whoever answers, and which letter is said
            where it is wrong, as a distance from the right one; None where both are new each time.
    """

    craft: str
    needs: frozenset[int]
    apt: Mapping[str, float]
    right: str
    fixed: tuple[tuple[float, int] | None, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Sheet:
    """A task, as nobody in the landscape sees it."""

    title: str
    parts: tuple[Part, ...]

    @property
    def answer(self) -> str:
        """The right letters of all parts."""
        return "".join(part.right for part in self.parts)


def title(seed: int, number: int) -> str:
    """Name a sheet: the number of a stream, and its own."""
    return f"Sheet {seed}/{number}"


@functools.lru_cache(maxsize=1_000)
def sheet(named: str, coupling: float, alike: float) -> Sheet:
    """Make a sheet; the same for the same arguments.

    Args:
        named: Its title.
        coupling: How often a part needs an earlier one.
        alike: Which share of letters comes out alike each time.
    """
    source = random.Random(f"adaptation/{named}")  # noqa: S311 - guards nothing
    crafts = source.sample(CRAFTS, source.choice(PARTS))
    size = SIZE // len(crafts)
    parts: list[Part] = []
    for number, craft in enumerate(crafts):
        needs = frozenset(one for one in range(number) if source.random() < coupling)
        apt = {aspect: source.uniform(-1, 1) for aspect in source.sample(ASPECTS, APT)}
        right = "".join(source.choices(LETTERS, k=size))
        chances = [
            (source.random() < alike, (source.random(), source.randrange(1, len(LETTERS))))
            for _ in range(size)
        ]
        fixed = tuple(chance if is_fixed else None for is_fixed, chance in chances)
        parts.append(Part(craft=craft, needs=needs, apt=apt, right=right, fixed=fixed))
    return Sheet(title=named, parts=tuple(parts))
