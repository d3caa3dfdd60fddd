"""The settings of strategies in recipes: each strategy provides their JSON Schema.

A strategy is found by its name in the entry-point group `coterie.strategies`; this package reads no
more of it than `Configurable` declares.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol

from ..values.errors import InputError
from .catalogue import installed, load_installed
from .foreign_code import foreign_code

PARTS = ("schema", "settings", "check", "check_recipe", "seeds")


class Configurable(Protocol):
    """The interface of a strategy that a recipe names.

    * `schema` **must** be the JSON Schema of a mapping that is closed (`additionalProperties:
      false`), without references, and with a `description` of each field: messages,
      `mas dev explain` and docs/reference/recipe.md are built from it.
    * `settings` **must** build a value from any fields that this schema accepts, with lists as
      tuples; without fields, from the defaults. The value **must** be a dataclass of plain values.
    """

    @property
    def schema(self) -> Mapping[str, Any]:
        """The JSON Schema of its settings."""
        ...

    @property
    def settings(self) -> Callable[..., Any]:
        """The function that builds its settings."""
        ...

    @property
    def check(self) -> Callable[[Any, Mapping[str, Any]], Mapping[str, str]]:
        """The function that returns problems of the settings beyond the schema, by field.

        Its arguments are the settings and the written fields.
        """
        ...

    @property
    def check_recipe(self) -> Callable[[Any], Mapping[str, str]]:
        """The function that returns problems of settings given the rest of the recipe, by setting.

        Its argument is the whole `Recipe`.
        """
        ...

    @property
    def seeds(self) -> tuple[str, ...]:
        """The teams of a new pool if the recipe has none."""
        ...


def find_strategy(name: str) -> Configurable:
    """Return a strategy by its name in recipes.

    Raises:
        InputError: No installed package declares it, it cannot be imported, or it is no strategy.
    """
    result = load_installed("strategies", "strategy", name)
    with foreign_code(f"the strategy {name}", InputError):
        lacks = [part for part in PARTS if not hasattr(result, part)]
    if lacks:
        kind = type(result).__name__
        raise InputError(f"{name!r} of coterie.strategies is not a strategy, but a {kind}.")
    return result


def settings_schemas() -> list[tuple[tuple[str, ...], Mapping[str, Any]]]:
    """Return the settings schemas of all strategies, with the names that share each.

    A strategy that cannot be loaded is left out: a recipe that names it reports it.
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
