"""Records `recorded.json`: episodes of worlds of our own, as the package's evaluator has them.

Called with a folder that has the package, it writes the file anew.
"""

import json
import sys
from pathlib import Path
from random import Random
from typing import Any

from coterie.benchmarks.evaluation.benchmark import Source
from coterie.benchmarks.plancraft import (
    CraftingWorld,
    PlancraftExample,
    Stack,
    read_published,
    world_of,
)
from coterie.schema.values.codec import from_value, to_value
from studies.plancraft.players import UNREADABLE, played_wildly
from studies.plancraft.reference import Played, Reference

RECORDED = Path(__file__).with_name("recorded.json")
EPISODES = 2
"""Of each world, played at random, beside the planner's."""
INVENTORIES: dict[str, dict[str, int]] = {
    "torch": {"oak_log": 2, "coal": 1, "dirt": 9},
    "iron_pickaxe": {"iron_ore": 3, "birch_log": 2, "stick": 1},
    "bread": {"wheat": 5, "paper": 2},
    "snow_block": {"snowball": 16, "bucket": 3, "snow": 1},
    "diamond_sword": {"diamond": 1, "cobblestone": 3, "oak_planks": 2},
    "magenta_dye": {"blue_dye": 2, "red_dye": 1, "pink_dye": 1, "poppy": 1},
    "cake": {"milk_bucket": 3, "egg": 1, "sugar_cane": 2, "wheat": 3},
    "charcoal": {"oak_log": 1, "spruce_log": 2, "cactus": 4},
}
IMPOSSIBLE = {"diamond_sword"}


def examples() -> list[PlancraftExample]:
    return [
        PlancraftExample(
            id=target,
            target=target,
            slots={
                slot: Stack(item, quantity)
                for slot, (item, quantity) in zip((30, 11, 45, 10), inventory.items(), strict=False)
                if quantity
            },
            impossible=target in IMPOSSIBLE,
            complexity="",
        )
        for target, inventory in INVENTORIES.items()
    ]


def record(folder: Path) -> list[dict[str, Any]]:
    """Play all of it with the package."""
    published = read_published(Source(data=folder))
    recorded: list[dict[str, Any]] = []
    with Reference(folder) as reference:
        for example in examples():
            world = world_of(example, published)
            plays = [None, *(played_wildly(world, _chance(example, n)) for n in range(EPISODES))]
            if example.target == "bread":
                plays.append([*UNREADABLE])
            those = [
                reference.play(world, impossible=example.impossible, texts=play) for play in plays
            ]
            recorded.append(
                {
                    "id": example.id,
                    "impossible": example.impossible,
                    "world": to_value(world),
                    "episodes": [_written(played) for played in those],
                }
            )
    return recorded


def episodes() -> list[tuple[CraftingWorld, bool, Played]]:
    """Read what was recorded."""
    return [
        (from_value(CraftingWorld, load["world"]), load["impossible"], _read(episode))
        for load in json.loads(RECORDED.read_text(encoding="utf-8"))
        for episode in load["episodes"]
    ]


def _chance(example: PlancraftExample, number: int) -> Random:
    return Random(f"{example.id}/{number}")


def _written(played: Played) -> dict[str, Any]:
    assert not played.failed
    before = [None, *played.told]
    texts = [
        None if name == last else name for name, last in zip(played.told, before, strict=False)
    ]
    return {"said": played.said, "told": texts, "success": played.success, "steps": played.steps}


def _read(episode: dict[str, Any]) -> Played:
    texts: list[str] = []
    for item in episode["told"]:
        texts.append(texts[-1] if item is None else item)
    return Played(
        said=episode["said"], told=texts, success=episode["success"], steps=episode["steps"]
    )


if __name__ == "__main__":
    lines = [json.dumps(fields, separators=(",", ":")) for fields in record(Path(sys.argv[1]))]
    RECORDED.write_text("[\n" + ",\n".join(lines) + "\n]\n", encoding="utf-8")
