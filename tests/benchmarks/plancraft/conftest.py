"""A package of our own, laid out as the benchmark's is."""

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from coterie.benchmarks.plancraft import SPLITS, package

RECIPES: dict[str, dict[str, Any]] = {
    "oak_planks": {
        "type": "minecraft:crafting_shapeless",
        "ingredients": [{"tag": "minecraft:oak_logs"}],
        "result": {"item": "minecraft:oak_planks", "count": 4},
    },
    "stick": {
        "type": "minecraft:crafting_shaped",
        "pattern": ["#", "#"],
        "key": {"#": {"item": "minecraft:oak_planks"}},
        "result": {"item": "minecraft:stick", "count": 4},
    },
    "oak_fence_gate": {
        "type": "minecraft:crafting_shaped",
        "pattern": ["/#/", "/#/"],
        "key": {"#": {"item": "minecraft:oak_planks"}, "/": [{"item": "minecraft:stick"}]},
        "result": {"item": "minecraft:oak_fence_gate"},
    },
    "charcoal": {
        "type": "minecraft:smelting",
        "ingredient": [{"item": "minecraft:birch_log"}, {"tag": "minecraft:oak_logs"}],
        "result": "minecraft:charcoal",
    },
    "cut": {
        "type": "minecraft:stonecutting",
        "ingredient": {"item": "minecraft:stone"},
        "result": "minecraft:stone_slab",
    },
}
TAGS = {"oak_logs": ["minecraft:oak_log", "#minecraft:stripped"], "stripped": ["stripped_oak_log"]}
ITEMS = [
    {"type": "oak_log", "stackable": True, "stackSize": 64},
    {"type": "snowball", "stackable": True, "stackSize": 16},
    {"type": "bucket", "stackable": False, "stackSize": 64},
]


def example(number: int, target: str, complexity: str) -> dict[str, Any]:
    return {
        "id": f"TEST{number:04}",
        "target": target,
        "slotted_inventory": {
            "12": {"type": "oak_log", "quantity": 2},
            "11": {"type": "snowball", "quantity": 9},
            "45": {"type": "bucket", "quantity": 1},
        },
        "impossible": complexity == "impossible",
        "complexity_split": complexity,
    }


EXAMPLES = [
    example(3, "charcoal", "easy"),
    example(1, "stick", "medium"),
    example(2, "diamond", "impossible"),
]


def write(path: Path, value: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value), encoding="utf-8")


def write_package(folder: Path) -> Path:
    root = folder / "plancraft"
    for name, recipe in RECIPES.items():
        write(root / "environment" / "recipes" / f"{name}.json", recipe)
    for name, items in TAGS.items():
        write(root / "environment" / "tags" / f"{name}.json", {"values": items})
    write(root / "environment" / "assets" / "constants.json", {"items": ITEMS})
    for split in SPLITS:
        write(root / "data" / f"{split}.json", EXAMPLES if split == "test" else EXAMPLES[:1])
    return folder


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with that package, which counts as the published one."""
    written = write_package(tmp_path / "site")
    content = package._content(written)
    monkeypatch.setattr(package, "SHA256", hashlib.sha256(content).hexdigest())
    return written
