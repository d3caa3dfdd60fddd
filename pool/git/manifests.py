"""Unites the manifests that two copies of a pool have for one evolution."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...schema.values.errors import StorageError
from ...schema.values.json_text import dumps, loads
from ...schema.values.values import is_mapping, is_texts
from .union import Contradiction

GROWING = ("commands", "coterie")
"""The fields, besides the tasks, that grow when an evolution is continued."""


def united_manifests(own_name: str, text: str, their_name: str, their_text: str) -> str:
    """Return the united manifest of an evolution that two copies of a pool have.

    The tasks are those of the copy with more tasks, which must begin with the tasks of the other
    one.

    Args:
        own_name: The first manifest's name in messages.

    Raises:
        Contradiction: They belong to two evolutions.
        StorageError: One is no manifest.
    """
    if text == their_text:
        return text
    mine, theirs = _read(own_name, text), _read(their_name, their_text)
    less, more = sorted((mine, theirs), key=lambda each: (len(each["tasks"]), dumps(each)))
    begun = list(less["tasks"].items())
    if list(more["tasks"].items())[: len(begun)] != begun or _rest(less) != _rest(more):
        raise Contradiction(
            f"{own_name} and {their_name} are two evolutions with the same name: they began with"
            " different tasks or recipes. Nothing was merged. Keep one of the two, and import the"
            " teams of the other one: mas-pool import."
        )
    grown = {name: list(dict.fromkeys((*more[name], *less[name]))) for name in GROWING}
    return dumps({**more, **grown}, indent=2, ensure_ascii=False) + "\n"


def _read(name: str, text: str) -> Mapping[str, Any]:
    try:
        value = loads(text)
    except ValueError as error:
        raise StorageError(f"{name}: cannot be read: {error}.") from None
    if not is_mapping(value) or not is_mapping(value.get("tasks")):
        raise StorageError(f"{name}: not the file that an evolution wrote.")
    if not all(is_texts(value.get(growing)) for growing in GROWING):
        raise StorageError(f"{name}: not the file that an evolution wrote.")
    return value


def _rest(value: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the fields that stay constant during an evolution, as in `Manifest.differences`."""
    rest = {name: item for name, item in value.items() if name not in {"tasks", *GROWING}}
    models = rest.get("models")
    if is_mapping(models):
        rest["models"] = {alias: _without_address(model) for alias, model in models.items()}
    return rest


def _without_address(model: Any) -> Any:
    if not is_mapping(model):
        return model
    return {name: item for name, item in model.items() if name != "api_base"}
