"""What strategies let recipes set: each brings the JSON Schema of its own settings.

A strategy is found by its name in the entry-point group `coterie.strategies`; of what is there,
this floor reads no more than `Configurable` says.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol

from ..values.errors import InputError
from .catalogue import installed, load_installed
from .foreign_code import foreign_code

PARTS = ("schema", "settings", "check", "check_recipe", "seeds")


class Configurable(Protocol):
    """What a recipe asks of the strategy that it names.

    * `schema` **must** be the JSON Schema of a mapping that is closed (`additionalProperties:
      false`), without references, and with a `description` of each field: messages,
      `mas dev explain` and docs/reference/recipe.md are made of it.
    * `settings` **must** make a value of any fields that this schema lets through, lists being
      tuples; without any, of the defaults. The value **must** be a dataclass of plain values.
    """

    @property
    def schema(self) -> Mapping[str, Any]:
        """The JSON Schema of its settings."""
        ...

    @property
    def settings(self) -> Callable[..., Any]:
        """Makes its settings."""
        ...

    @property
    def check(self) -> Callable[[Any, Mapping[str, Any]], Mapping[str, str]]:
        """Says what is wrong with settings that no schema can say, by the field.

        It is given the settings, and the fields that were written.
        """
        ...

    @property
    def check_recipe(self) -> Callable[[Any], Mapping[str, str]]:
        """Says what is wrong with settings beside the recipe's other fields, by the setting.

        It is given the whole `Recipe`.
        """
        ...

    @property
    def seeds(self) -> tuple[str, ...]:
        """The teams that a new pool begins with where the recipe has none."""
        ...


def find_strategy(name: str) -> Configurable:
    """Find a strategy by the name that recipes write.

    Raises:
        InputError: No installed package gives it, it cannot be imported, or it is no strategy.
    """
    result = load_installed("strategies", "strategy", name)
    with foreign_code(f"the strategy {name}", InputError):
        lacks = [part for part in PARTS if not hasattr(result, part)]
    if lacks:
        kind = type(result).__name__
        raise InputError(f"{name!r} of coterie.strategies is not a strategy, but a {kind}.")
    return result


def settings_schemas() -> list[tuple[tuple[str, ...], Mapping[str, Any]]]:
    """Return the schemas of the settings of all strategies, with the names that share each.

    A strategy that cannot be had is left out: whoever names it is told.
    """
    pairs: list[tuple[tuple[str, ...], Mapping[str, Any]]] = []
    for name in sorted(installed("strategies")):
        try:
            schema = find_strategy(name).schema
        except InputError:
            continue
        if not schema.get("properties"):
            continue
        for place, (names, registered) in enumerate(pairs):
            if registered == schema:
                pairs[place] = ((*names, name), schema)
                break
        else:
            pairs.append(((name,), schema))
    return pairs
