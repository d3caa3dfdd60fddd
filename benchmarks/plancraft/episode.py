"""An episode: one agent, one table, 30 actions; and the package's verdict on it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .actions import Impossible, read_action
from .crafting import CraftingTable, Stack
from .recipes import recipe_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from .recipes import Recipe

__all__ = ["MOST_STEPS", "Episode", "World"]

MOST_STEPS = 30
"""The package's limit. Each text that is meant as an action is a step, whatever becomes of it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class World:
    """What an episode starts from: all that there is to know of it but whether it can succeed.

    Attributes:
        target: The item to be made.
        slots: What lies where.
        recipes: Those that can come to apply.
        stacks: How many of an item a slot takes where that is less than 64.
        steps: How many actions an episode has.
    """

    target: str
    slots: Mapping[int, Stack]
    recipes: Sequence[Recipe]
    stacks: Mapping[str, int]
    steps: int = MOST_STEPS

    @classmethod
    def of(cls, value: Mapping[str, Any]) -> World:
        """Read what `written` has given, such as from the options of a task's scorer."""
        slots = {int(slot): Stack(*stack) for slot, stack in value["slots"].items()}
        return cls(
            target=value["target"],
            slots=slots,
            recipes=[recipe_of(one) for one in value["recipes"]],
            stacks=value["stacks"],
            steps=value["steps"],
        )

    def written(self) -> dict[str, Any]:
        """Give it as JSON has it."""
        slots = {str(slot): [one.item, one.quantity] for slot, one in self.slots.items()}
        return {
            "target": self.target,
            "slots": slots,
            "recipes": [one.written() for one in self.recipes],
            "stacks": dict(self.stacks),
            "steps": self.steps,
        }


class Episode:
    """An episode under way.

    Attributes:
        steps: How many actions have been tried.
        unreadable: How many of them could not be read.
        has_target: Whether the target was made.
        has_given_up: Whether the agent has said that it is impossible.
    """

    def __init__(self, world: World) -> None:
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
        """Give the package's verdict, for a task that can or cannot be done.

        To give up is right where it is impossible. Otherwise the target must have come to lie
        elsewhere than in the output slot; that counts whether it was held for impossible or not.
        """
        return self.has_target or (self.has_given_up and impossible)
