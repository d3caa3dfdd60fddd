"""An episode: one agent, one table, 30 actions; and the package's verdict on it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from ...schema.values.codec import Form, from_value, kept, to_value
from .actions import Impossible, read_action
from .crafting import CraftingTable, Stack
from .recipes import CraftingRecipe, recipe_of

MOST_STEPS = 30
"""The package's limit. Each text that is meant as an action is a step, whatever becomes of it."""


def _listed(stack: Stack) -> list[Any]:
    return [stack.item, stack.quantity]


def _stack(value: Any) -> Stack:
    return Stack(*from_value(tuple[str, int], value))


@kept()
class CraftingWorld:
    """What an episode starts from: all that there is to know of it but whether it can succeed.

    Attributes:
        slots: What lies where.
        stacks: How many of an item a slot takes where that is less than 64.
        steps: How many actions an episode has.
    """

    target: str
    slots: Mapping[int, Annotated[Stack, Form(write=_listed, read=_stack)]]
    recipes: Sequence[Annotated[CraftingRecipe, Form(write=to_value, read=recipe_of)]]
    stacks: Mapping[str, int]
    steps: int = MOST_STEPS


class CraftingEpisode:
    """An episode under way.

    Attributes:
        steps: How many actions have been tried.
        unreadable: How many of them could not be read.
        has_given_up: Whether the agent has said that it is impossible.
    """

    def __init__(self, world: CraftingWorld) -> None:
        self._world = world
        self._table = CraftingTable(world.slots, world.recipes, world.stacks)
        self.steps = 0
        self.unreadable = 0
        self.has_target = False
        self.has_given_up = False

    @property
    def is_over(self) -> bool:
        """Whether nothing that is tried counts any more."""
        return self.has_target or self.has_given_up or self.steps >= self._world.steps

    @property
    def slots(self) -> Mapping[int, Stack]:
        """What lies where."""
        return self._table.slots

    @property
    def observation(self) -> str:
        """What the package shows of the table, as text."""
        return f"Craft an item of type: {self._world.target}\ninventory:{self._table.described()}"

    def act(self, text: str) -> str:
        """Try an action; give what the package answers, which is nothing once it was given up.

        An action that is read may have no effect; then the observation is what it was. Once the
        episode is over, nothing happens.
        """
        if self.is_over:
            return ""
        self.steps += 1
        action = read_action(text)
        if isinstance(action, str):
            self.unreadable += 1
            return action
        if isinstance(action, Impossible):
            self.has_given_up = True
            return ""
        self._table.do(action)
        self.has_target = self._table.has(self._world.target)
        return self.observation

    def has_succeeded(self, *, impossible: bool) -> bool:
        """Return the package's verdict, for a task that can or cannot be done.

        To give up is right where it is impossible. Otherwise the target must have come to lie
        elsewhere than in the output slot; that counts whether it was held for impossible or not.
        """
        return self.has_target or (self.has_given_up and impossible)
