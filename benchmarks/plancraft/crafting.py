"""The crafting table: the content of its slots, and the effects of moving and smelting.

It behaves like the package's environment, including the order in which slots were filled.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from .actions import FIRST_OF_INVENTORY, OUTPUT, Transfer, slot_name
from .recipes import EMPTY, CraftingRecipe, Product, Shaped, Shapeless, Smelted

LARGEST_STACK = 64
GRID = range(OUTPUT + 1, FIRST_OF_INVENTORY)


@dataclass(frozen=True, slots=True)
class Stack:
    """Items of one kind in a slot."""

    item: str
    quantity: int


class CraftingTable:
    """A crafting table with a furnace and an inventory. Actions change it.

    Args:
        recipes: All recipes for crafting and smelting. No two match the same grid, or the same
            item.
        stacks: The maximum number of an item in a slot if less than 64.
    """

    def __init__(
        self,
        slots: Mapping[int, Stack],
        recipes: Sequence[CraftingRecipe],
        stacks: Mapping[str, int],
    ) -> None:
        self._slots = dict(slots)
        self._stacks = stacks
        self._crafted = [recipe for recipe in recipes if isinstance(recipe, Shaped | Shapeless)]
        self._smelted = {
            item: recipe.product
            for recipe in recipes
            if isinstance(recipe, Smelted)
            for item in recipe.item
        }
        self._used: tuple[int, ...] = ()

    @property
    def slots(self) -> Mapping[int, Stack]:
        """The content of the slots."""
        return dict(self._slots)

    def has(self, item: str) -> bool:
        """Return whether an item is present, not merely available in the output."""
        return any(stack.item == item for slot, stack in self._slots.items() if slot != OUTPUT)

    def described(self) -> str:
        """Describe the content, with a line for each slot, in slot order."""
        return "".join(
            f"\n - {stack.item} {slot_name(slot)} quantity {stack.quantity}"
            for slot, stack in sorted(self._slots.items())
        )

    def do(self, action: Transfer) -> None:
        """Do an action; an impossible one changes nothing."""
        if action.kind == "move":
            self._move(action.source, action.target, action.quantity)
        else:
            self._smelt(action.source, action.target, action.quantity)

    def _move(self, source: int, target: int, quantity: int) -> None:
        stack = self._slots.get(source)
        if stack is None or stack.quantity < quantity:
            return
        if source == OUTPUT:
            quantity = stack.quantity
        if not self._put(stack.item, target, quantity):
            return
        self._take(source, quantity)
        if source == OUTPUT:
            for used in self._used:
                self._take(used, 1)
        self._craft(source, target)

    def _smelt(self, source: int, target: int, quantity: int) -> None:
        stack = self._slots.get(source)
        if source == OUTPUT or stack is None or stack.quantity < quantity:
            return
        product = self._smelted.get(stack.item)
        if product is None or not self._put(product.item, target, quantity):
            return
        self._take(source, quantity)
        self._craft(source, target)

    def _put(self, item: str, slot: int, quantity: int) -> bool:
        """Put items into a slot, if it accepts them. An empty one accepts any number."""
        stack = self._slots.get(slot)
        if stack is not None:
            most = self._stacks.get(item, LARGEST_STACK)
            if stack.item != item or stack.quantity + quantity > most:
                return False
            quantity += stack.quantity
        self._slots[slot] = Stack(item, quantity)
        return True

    def _take(self, slot: int, quantity: int) -> None:
        stack = self._slots[slot]
        if stack.quantity > quantity:
            self._slots[slot] = Stack(stack.item, stack.quantity - quantity)
        else:
            del self._slots[slot]

    def _craft(self, *changed: int) -> None:
        """Fill the output from the grid, if an action has changed the grid."""
        if min(changed) >= FIRST_OF_INVENTORY:
            return
        self._used = tuple(slot for slot in GRID if slot in self._slots)
        product = self._product()
        if product is None:
            self._slots.pop(OUTPUT, None)
        else:
            self._slots[OUTPUT] = Stack(product.item, product.count)

    def _product(self) -> Product | None:
        grid = [self._slots[slot].item if slot in self._slots else EMPTY for slot in GRID]
        return next((item.product for item in self._crafted if item.fits(grid)), None)
