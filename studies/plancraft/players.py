"""Players without a model: one that acts at random, and one that tries everything out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from coterie.benchmarks.plancraft.actions import FIRST_OF_INVENTORY, LAST_SLOT, OUTPUT, slot_name
from coterie.benchmarks.plancraft.episode import CraftingEpisode
from coterie.benchmarks.plancraft.recipes import EMPTY, Shaped, Shapeless

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from random import Random

    from coterie.benchmarks.plancraft.episode import CraftingWorld

    Player = Callable[[CraftingEpisode, Random], Iterator[str]]

UNREADABLE = (
    "", "move", "Move: from [I1] to [A1] with quantity 1", "craft the item", "think: what now?",
    "move:", "move: from [I1]", "move: from [I1] to [A1]", "move: [I1] to [A1] with quantity 1",
    "smelt: to [A1] with quantity 1", "smelt: from [I1] to [A1] with quantity one",
    "move: from [I1] to [0] with quantity 1", "smelt: from [I1] to [0] with quantity 1",
    "move: from [I37] to [A1] with quantity 1", "move: from [A1] to [I40] with quantity 1",
    "move: from [I0] to [A1] with quantity 1", "move: from [A4] to [A1] with quantity 1",
    "smelt: from [I1] to [I1] with quantity 1", "move: from [5] to [A1] with quantity 1",
    "move: from [I1] to [A1] with quantity 0", "move: from [I1] to [A1] with quantity 65",
    "move: from [I01] to [A1] with quantity 1", "move: from [I123] to [A1] with quantity 1",
    "move: from [I1] to [A1] with quantity " + "9" * 5000, "impossible", "impossible:why",
    "move: impossible: no", "search: planks",
)  # fmt: skip
"""Texts that the package does not read as an action, each for a reason of its own."""
WORDED = (
    "{}", "I think this is best:\n{}", "{} and then we see", "`{}`", "x" * 300 + " {}",
    "think: hm. {}", "{}\nmove: from [I9] to [C3] with quantity 9",
)  # fmt: skip


def played_at_random(world: CraftingWorld, chance: Random) -> CraftingEpisode:
    """Play an episode by moving or smelting any items anywhere, which never gives up."""
    episode = CraftingEpisode(world)
    while not episode.is_over:
        episode.act(_any_transfer(episode, chance))
    return episode


def played_wildly(world: CraftingWorld, chance: Random) -> list[str]:
    """Give the texts of an episode that tries out what there is: recipes, mistakes and nonsense."""
    episode, texts = CraftingEpisode(world), list[str]()
    while not episode.is_over:
        for text in _idea(episode, world, chance):
            texts.append(chance.choice(WORDED).format(text) if chance.random() < 0.2 else text)
            episode.act(texts[-1])
    return texts


def _idea(episode: CraftingEpisode, world: CraftingWorld, chance: Random) -> Sequence[str]:
    """Return some actions that belong together."""
    lot = chance.random()
    if lot < 0.5:
        return _crafting(episode, world, chance) or [_any_transfer(episode, chance)]
    if lot < 0.8:
        return [_any_transfer(episode, chance)]
    if lot < 0.85:
        return [_transfer("move", OUTPUT, chance.randint(1, LAST_SLOT), chance.randint(1, 8))]
    return ["impossible: I give up"] if lot > 0.985 else [chance.choice(UNREADABLE)]


def _crafting(episode: CraftingEpisode, world: CraftingWorld, chance: Random) -> list[str]:
    """Lay out a recipe that there are items for, and take what comes of it; nothing for none."""
    recipes = [item for item in world.recipes if isinstance(item, Shaped | Shapeless)]
    chance.shuffle(recipes)
    for recipe in recipes:
        places = _places(recipe, chance)
        moves = _laid_out(episode, places)
        if moves:
            target = chance.choice(_free(episode) or [FIRST_OF_INVENTORY])
            return [*moves, _transfer("move", OUTPUT, target, recipe.product.count)]
    return []


def _places(recipe: Shaped | Shapeless, chance: Random) -> Sequence[frozenset[str]]:
    """Return the nine places of the grid with what has to lie there."""
    if isinstance(recipe, Shaped):
        return chance.choice(recipe.layouts)
    places = [*recipe.items, *[frozenset({EMPTY})] * (9 - len(recipe.items))]
    chance.shuffle(places)
    return places


def _laid_out(episode: CraftingEpisode, places: Sequence[frozenset[str]]) -> list[str]:
    """Return the moves from the inventory that fill the places; nothing where items are missing."""
    left = {slot: item for slot, item in episode.slots.items() if slot >= FIRST_OF_INVENTORY}
    used, moves = dict.fromkeys(left, 0), list[str]()
    for at, place in enumerate(places, 1):
        if EMPTY in place:
            continue
        slot = next((s for s, o in left.items() if o.item in place and used[s] < o.quantity), None)
        if slot is None:
            return []
        used[slot] += 1
        moves.append(_transfer("move", slot, at, 1))
    return moves


def _free(episode: CraftingEpisode) -> list[int]:
    there = episode.slots
    return [slot for slot in range(FIRST_OF_INVENTORY, LAST_SLOT + 1) if slot not in there]


def _any_transfer(episode: CraftingEpisode, chance: Random) -> str:
    there = episode.slots
    source = chance.choice(list(there))
    target = chance.choice([slot for slot in range(1, LAST_SLOT + 1) if slot != source])
    quantity = chance.randint(1, there[source].quantity)
    return _transfer(chance.choice(["move", "smelt"]), source, target, quantity)


def _transfer(kind: str, source: int, target: int, quantity: int) -> str:
    return f"{kind}: from {slot_name(source)} to {slot_name(target)} with quantity {quantity}"
