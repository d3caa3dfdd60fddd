"""An episode: one agent, one table, 30 actions; and the package's verdict on it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from ...schema.values.codec import Form, from_value, stored, to_value
from .actions import Impossible, read_action
from .crafting import CraftingTable, Stack
from .recipes import CraftingRecipe, recipe_of

MOST_STEPS = 30
"""The package's limit. Each text meant as an action is a step, whatever its outcome."""


def _listed(stack: Stack) -> list[Any]:
    return [stack.item, stack.quantity]


def _stack(value: Any) -> Stack:
    return Stack(*from_value(tuple[str, int], value))


@stored()
class CraftingWorld:
    """The initial state of an episode, without whether it can succeed.

    Attributes:
        stacks: The maximum number of an item in a slot if less than 64.
        steps: The maximum number of actions.
    """

    target: str
    slots: Mapping[int, Annotated[Stack, Form(write=_listed, read=_stack)]]
    recipes: Sequence[Annotated[CraftingRecipe, Form(write=to_value, read=recipe_of)]]
    stacks: Mapping[str, int]
    steps: int = MOST_STEPS


class CraftingEpisode:
    """An episode in progress.

    Attributes:
        steps: The number of attempted actions.
        unreadable: The number of unreadable ones.
        has_given_up: Whether the agent has called the task impossible.
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
        """Whether further actions have no effect."""
        return self.has_target or self.has_given_up or self.steps >= self._world.steps

    @property
    def slots(self) -> Mapping[int, Stack]:
        """The content of the slots."""
        return self._table.slots

    @property
    def observation(self) -> str:
        """The package's text for the state of the table."""
        return f"Craft an item of type: {self._world.target}\ninventory:{self._table.described()}"

    def act(self, text: str) -> str:
        """Try an action; return the package's answer, which is empty after giving up.

        A readable action may have no effect; then the observation does not change. Once the episode
        is over, nothing happens.
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

        Giving up is right if the task is impossible. Otherwise the target must be in a slot other
        than the output; that counts even for a task that was thought impossible.
        """
        return self.has_target or (self.has_given_up and impossible)
