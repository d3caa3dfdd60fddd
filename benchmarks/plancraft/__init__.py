"""Plancraft: items to craft at Minecraft's crafting table, and the package's verdict.

* `read_published` reads the package's examples and recipes; `world_of` is one example's world.
* `CraftingEpisode` is played action by action, as text, and gives observations and verdict.
* `read_action` reads one action.
"""

from .actions import Impossible, Transfer, read_action
from .crafting import Stack
from .episode import MOST_STEPS, CraftingEpisode, CraftingWorld
from .package import SPLITS, PlancraftExample, Published, read_published
from .tasks import world_of

__all__ = [
    "MOST_STEPS",
    "SPLITS",
    "CraftingEpisode",
    "CraftingWorld",
    "Impossible",
    "PlancraftExample",
    "Published",
    "Stack",
    "Transfer",
    "read_action",
    "read_published",
    "world_of",
]
