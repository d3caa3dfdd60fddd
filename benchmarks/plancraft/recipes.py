"""Recipes: the products of patterns on the crafting grid, and of the furnace."""

from __future__ import annotations

import functools
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Protocol

from ...schema.values.codec import OMITTED, Form, from_value, stored

EMPTY = ""
"""The content of an empty place."""

Alternatives = frozenset[str]
"""The items of which a recipe accepts any one."""


def _written(place: Alternatives) -> str:
    return "|".join(sorted(place))


def _alternatives(text: str) -> Alternatives:
    return frozenset(text.split("|"))


Place = Annotated[Alternatives, Form(write=_written, read=_alternatives)]
"""Alternatives as a text, separated by |."""
FLAT = Form(flat=True)


@stored()
class Product:
    """The product of a recipe, with its number."""

    item: Annotated[str, Form(key="makes")]
    count: Annotated[int, OMITTED] = 1


class CraftingRecipe(Protocol):
    """A recipe: one of `Shaped`, `Shapeless` and `Smelted`."""

    @property
    def product(self) -> Product:
        """Its product."""
        ...

    @property
    def needs(self) -> Sequence[Alternatives]:
        """The required items, each with its alternatives."""
        ...

    def among(self, items: frozenset[str]) -> CraftingRecipe:
        """Return the recipe with only these items among its alternatives."""
        ...


@stored()
class Shaped:
    """Items in places: a pattern anywhere on the grid, with nothing beside it."""

    rows: Annotated[tuple[tuple[Place, ...], ...], Form(key="shaped")]
    product: Annotated[Product, FLAT]

    @property
    def needs(self) -> Sequence[Alternatives]:
        """The required items, each with its alternatives."""
        return [place for row in self.rows for place in row if EMPTY not in place]

    def fits(self, grid: Sequence[str]) -> bool:
        """Return whether it matches the grid, whose nine places are given row by row."""
        return any(
            all(item in place for item, place in zip(grid, places, strict=True))
            for places in self.layouts
        )

    @property
    def layouts(self) -> Sequence[Sequence[Alternatives]]:
        """All positions of the pattern on the grid, each as nine places."""
        return _layouts(self.rows)

    def among(self, items: frozenset[str]) -> Shaped:
        """Return the recipe with only these items among its alternatives."""
        choices = items | {EMPTY}
        rows = tuple(tuple(place & choices for place in row) for row in self.rows)
        return Shaped(product=self.product, rows=rows)


@stored()
class Shapeless:
    """Items anywhere on the grid."""

    items: Annotated[tuple[Place, ...], Form(key="shapeless")]
    product: Annotated[Product, FLAT]

    @property
    def needs(self) -> Sequence[Alternatives]:
        """The required items, each with its alternatives."""
        return self.items

    def fits(self, grid: Sequence[str]) -> bool:
        """Return whether it matches the grid, whose nine places are given row by row."""
        lying = [item for item in grid if item]
        return len(lying) == len(self.items) and _can_stand(lying, self.items)

    def among(self, items: frozenset[str]) -> Shapeless:
        """Return the recipe with only these items among its alternatives."""
        return Shapeless(product=self.product, items=tuple(item & items for item in self.items))


@stored()
class Smelted:
    """An item that goes through the furnace, in any number at once."""

    item: Annotated[Place, Form(key="smelted")]
    product: Annotated[Product, FLAT]

    @property
    def needs(self) -> Sequence[Alternatives]:
        """The required items, each with its alternatives."""
        return [self.item]

    def among(self, items: frozenset[str]) -> Smelted:
        """Return the recipe with only these items among its alternatives."""
        return Smelted(product=self.product, item=self.item & items)


_PLACE = {"type": "string", "maxLength": 10_000, "x-unit": "characters"}
RECIPE: Mapping[str, Any] = {
    "type": "object",
    "required": ["makes"],
    "additionalProperties": False,
    "properties": {
        "makes": {"type": "string", "description": "The item that it makes."},
        "count": {"type": "integer", "minimum": 1, "maximum": 64},
        "shaped": {
            "type": "array",
            "minItems": 1,
            "maxItems": 3,
            "items": {"type": "array", "minItems": 1, "maxItems": 3, "items": _PLACE},
        },
        "shapeless": {"type": "array", "minItems": 1, "maxItems": 9, "items": _PLACE},
        "smelted": _PLACE,
    },
}
"""The JSON Schema of a recipe. Alternative items are separated by |."""


def fault_of(value: Mapping[str, Any]) -> str:
    """Return the fault of a recipe that the schema accepts; empty if it is valid."""
    if sum(kind in value for kind in ("shaped", "shapeless", "smelted")) != 1:
        return "A recipe has one of shaped, shapeless and smelted."
    if len({len(row) for row in value.get("shaped", ())}) > 1:
        return "The rows of a pattern are of the same length."
    return ""


def recipe_of(value: Mapping[str, Any]) -> CraftingRecipe:
    """Return the recipe of a JSON value."""
    kinds = {"shaped": Shaped, "shapeless": Shapeless, "smelted": Smelted}
    return from_value(next(form for name, form in kinds.items() if name in value), value)


def reachable(
    recipes: Sequence[CraftingRecipe], start: frozenset[str]
) -> tuple[CraftingRecipe, ...]:
    """Return the recipes that can ever apply, starting from these items.

    No other recipe ever applies, so an episode with only these is the same as one with all.
    """
    taking = _taking(tuple(recipes))
    items, fresh, chosen = set(start), list(start), set[int]()
    while fresh:
        for number in taking.get(fresh.pop(), ()):
            recipe = recipes[number]
            if number in chosen or any(items.isdisjoint(need) for need in recipe.needs):
                continue
            chosen.add(number)
            if recipe.product.item not in items:
                items.add(recipe.product.item)
                fresh.append(recipe.product.item)
    there = frozenset(items)
    return tuple(recipes[number].among(there) for number in sorted(chosen))


@functools.lru_cache(maxsize=4)
def _taking(recipes: tuple[CraftingRecipe, ...]) -> Mapping[str, Sequence[int]]:
    """Return the numbers of the recipes that need each item."""
    taking: defaultdict[str, list[int]] = defaultdict(list)
    for number, recipe in enumerate(recipes):
        for item in frozenset[str]().union(*recipe.needs):
            taking[item].append(number)
    return taking


@functools.lru_cache(maxsize=2_000)
def _layouts(rows: tuple[tuple[Alternatives, ...], ...]) -> Sequence[Sequence[Alternatives]]:
    height, width = len(rows), len(rows[0])
    nothing = frozenset({EMPTY})
    return [
        [
            rows[row - top][column - left]
            if top <= row < top + height and left <= column < left + width
            else nothing
            for row in range(3)
            for column in range(3)
        ]
        for top in range(4 - height)
        for left in range(4 - width)
    ]


def _can_stand(items: Sequence[str], needs: Sequence[Alternatives]) -> bool:
    """Return whether each item can fill a need of its own (a bipartite matching, by Kuhn).

    Listing all combinations instead would take time and memory exponential in the needs.
    """
    standing: dict[int, str] = {}

    def stands(item: str, visited: set[int]) -> bool:
        for place, need in enumerate(needs):
            if item in need and place not in visited:
                visited.add(place)
                if place not in standing or stands(standing[place], visited):
                    standing[place] = item
                    return True
        return False

    return all(stands(item, set()) for item in items)
