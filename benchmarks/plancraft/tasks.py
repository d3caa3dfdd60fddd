"""The tasks: the examples of the package's splits, each with its world."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from ...schema.team.task import ScorerChoice, Task
from ...schema.values.codec import to_value
from ..evaluation.benchmark import Benchmark, Source
from .episode import CraftingEpisode, CraftingWorld
from .package import HOW_TO_GET, PlancraftExample, Published, read_published
from .recipes import reachable
from .toolkit import PLANCRAFT_TOOLS

_PROMPT = """\
At a crafting table of Minecraft, make the item that is named below out of what lies in the \
slots. You have at most {steps} actions.

Slots. The grid has the rows [A1] [A2] [A3], [B1] [B2] [B3] and [C1] [C2] [C3]. In [0] appears \
what the items on the grid make. [I1] to [I36] are the inventory.

Actions:
move: from [I2] to [A1] with quantity 3
smelt: from [I5] to [I6] with quantity 1
impossible: the reason why the item cannot be made of what is there

The item counts as made once it lies in a slot other than [0]: move what appears in [0] to a free \
slot of the inventory. Nothing can be put into [0]. Recipes are Minecraft's and take one item from \
each place of the grid that they use; all other places must be empty. Smelting puts what the \
furnace makes into the second slot. An action that cannot be done changes nothing, but counts. \
Some items cannot be made: then say that it is impossible, which ends the task.

{observation}

If you have the tool plancraft_act, give it one action at a time and look at what comes of it; \
when the task has ended, give a short final answer. If you have no such tool, end your answer with \
a line ACTIONS: and below it all actions in order, one on a line.
"""


def split_tasks(split: str, source: Source) -> Sequence[Task]:
    """Return the tasks of one of the package's splits, in its order."""
    published = read_published(source)
    return [_task(example, published) for example in published.splits[split]]


def world_of(example: PlancraftExample, published: Published) -> CraftingWorld:
    """Return the world of an example, with the recipes that can ever apply in it."""
    there = frozenset(stack.item for stack in example.slots.values())
    recipes = reachable(tuple(published.recipes), there)
    items = there | {recipe.product.item for recipe in recipes}
    return CraftingWorld(
        target=example.target,
        slots=example.slots,
        recipes=recipes,
        stacks={item: size for item, size in published.stacks.items() if item in items},
    )


def _task(example: PlancraftExample, published: Published) -> Task:
    world = world_of(example, published)
    return Task(
        id=example.id,
        query=_PROMPT.format(steps=world.steps, observation=CraftingEpisode(world).observation),
        niche=example.complexity,
        answer={"impossible": example.impossible},
        scorer=ScorerChoice(name="plancraft", options=to_value(world)),
    )


def _benchmark(name: str, split: str, about: str) -> Benchmark:
    return Benchmark(
        name=name,
        title=f"Plancraft, {split}",
        about=(
            f"{about} Each asks for an item of Minecraft, to be made in at most 30 moves and"
            " smeltings, or to be called impossible where it cannot be made. The verdict is that of"
            " the package's evaluator on the actions of the agent that answers, or that its answer"
            " lists. Only text is shown."
        ),
        licence="MIT, Copyright (c) 2024 Gautier Dagan",
        citation=(
            "Dagan, Keller and Lascarides, Plancraft: an evaluation dataset for planning with LLM"
            " agents, 2024, arXiv:2412.21033"
        ),
        source=HOW_TO_GET,
        tasks=partial(split_tasks, split),
        tools=(PLANCRAFT_TOOLS.name,),
    )


PLANCRAFT = _benchmark("plancraft", "test", "The 580 examples of the test split.")
PLANCRAFT_SMALL = _benchmark("plancraft-small", "test.small", "117 examples of the test split.")
PLANCRAFT_EASY = _benchmark(
    "plancraft-easy", "test.small.easy", "100 easy examples of the test split."
)
PLANCRAFT_TRAIN = _benchmark(
    "plancraft-train", "train", "The 1,145 examples of the training split."
)
PLANCRAFT_VAL = _benchmark("plancraft-val", "val", "The 570 examples of the validation split.")
PLANCRAFT_VAL_SMALL = _benchmark(
    "plancraft-val-small", "val.small", "110 examples of the validation split."
)
PLANCRAFT_VAL_EASY = _benchmark(
    "plancraft-val-easy", "val.small.easy", "100 easy examples of the validation split."
)
