"""Recipes: how teams evolve over a stream of tasks, as a value.

A recipe has fields that every strategy reads, and under `settings` those of its own strategy, which
also brings their JSON Schema.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal

from ._shape import shape_schema
from .errors import ConfigError, InputError
from .loading import read_file, shape_only
from .settings import find_strategy
from .values import is_list, is_mapping
from .yaml_text import read_yaml

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from .document import Document
    from .problems import Problem
    from .settings import Configurable

__all__ = ["DEFAULT_SEEDS", "Recipe", "load_recipe", "settings_problems"]

CostUnit = Literal["tokens", "usd", "calls", "seconds"]
Reuse = Literal["auto", "always", "never"]

DEFAULT_SEEDS = ("seed:peer_review", "seed:majority_vote", "seed:debate")
"""The pool of EvoMAS Table 7 for reasoning and the use of tools."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Recipe:
    """A recipe. The fields are those of its file; `mas explain evolution` tells them.

    `settings` is a value of the strategy's own type; `cost_unit` and `cost_per` are what the file
    has under `cost`; `policy` is a path.
    """

    strategy: str
    settings: Any
    seeds: tuple[str, ...] = DEFAULT_SEEDS
    meta_model: str = "default"
    judge_model: str | None = None
    models: tuple[str, ...] = ()
    score: Literal["auto", "answer", "judge"] = "auto"
    rubric: str = ""
    judge_samples: int = 1
    beta: float = 0
    cost_unit: CostUnit = "tokens"
    cost_per: float = 100_000
    workers: int = 1
    seed: int = 0
    policy: str | None = None
    reuse: Reuse = "auto"

    def value(self) -> dict[str, Any]:
        """Give each field as digests have it: `reuse`, which came late, only where it is said."""
        fields = asdict(self)
        if self.reuse == "auto":
            del fields["reuse"]
        return fields


def _silent(_text: str, /) -> None:
    pass


def load_recipe(path: str | Path, tell: Callable[[str], None] = _silent) -> Recipe:
    """Load a recipe.

    Before strategies had settings, their fields stood at the top of the file. They are still read
    there, and `tell` is told where they belong.

    Args:
        path: The file.
        tell: Told what a person should know of a recipe that loads.

    Raises:
        InputError: There is no such file, it cannot be read, or its strategy cannot be imported.
        ConfigError: The file does not load; the exception has every problem with its place.
    """
    document, problems = read_yaml(read_file(path), str(path))
    strategy = _strategy(document, problems)
    old = _old_fields(document, strategy)
    document, problems = shape_only(document, problems, _schema(strategy, old))
    if problems or strategy is None:  # without a strategy, there is a problem
        raise ConfigError(problems)
    said: dict[str, Any] = {**document.value}
    given = {key: said.pop(key) for key in old} | (said.pop("settings", None) or {})
    settings = strategy.settings(**{key: _tuples(item) for key, item in given.items()})
    where = () if old else ("settings",)
    if unread := strategy.check(settings, given):
        raise ConfigError(_found(document, where, unread))
    if old:
        tell(_where_now(path, old))
    cost: dict[str, Any] = said.pop("cost", None) or {}
    fields = {"seeds": strategy.seeds} | {key: _tuples(item) for key, item in said.items()}
    return Recipe(settings=settings, **fields, **{f"cost_{key}": one for key, one in cost.items()})


def settings_problems(path: str | Path, found: Mapping[str, str]) -> list[Problem]:
    """Give what is wrong with a recipe's settings, by the field, the places where they stand.

    Args:
        path: The recipe, which has been loaded.
        found: What is wrong with which.

    Raises:
        InputError: It cannot be read any more.
    """
    document, _ = read_yaml(read_file(path), str(path))
    is_new = is_mapping(document.value) and "settings" in document.value
    return _found(document, ("settings",) if is_new else (), found)


def _found(document: Document, where: tuple[str, ...], found: Mapping[str, str]) -> list[Problem]:
    return sorted(document.problem((*where, name), why) for name, why in found.items())


def _strategy(document: Document, problems: list[Problem]) -> Configurable | None:
    """Find the strategy that a recipe names; where there is none, that is a problem."""
    name = document.value.get("strategy") if is_mapping(document.value) else None
    if not isinstance(name, str) or not name:
        return None
    try:
        return find_strategy(name)
    except InputError as error:
        problems.append(document.problem(("strategy",), str(error)))
        return None


def _old_fields(document: Document, strategy: Configurable | None) -> tuple[str, ...]:
    """Name the strategy's fields that stand at the top, as they once did.

    Raises:
        ConfigError: There are settings as well.
    """
    if strategy is None or not is_mapping(document.value):
        return ()
    own = strategy.schema.get("properties", {}).keys()
    old = [key for key in document.value if key in own - shape_schema("evolution")["properties"]]
    if old and "settings" in document.value:
        raise ConfigError(list(_twice(document, old)))
    return tuple(old)


def _twice(document: Document, old: list[str]) -> Iterator[Problem]:
    for key in old:
        why = f"it belongs under settings, which are here as well. Write settings: {{{key}: …}}."
        yield document.problem((key,), why, at_key=True)


def _schema(strategy: Configurable | None, old: tuple[str, ...]) -> Mapping[str, Any]:
    """Give the shape of a recipe with this strategy, and of one in which its fields are on top."""
    common = shape_schema("evolution")
    if strategy is None:
        return common
    own = strategy.schema
    on_top = own.get("properties", {}) if old else {}
    settings = {**common["properties"]["settings"], **own}
    fields = {**on_top, **common["properties"], "settings": settings}
    return {**common, "properties": fields}


def _where_now(path: str | Path, old: tuple[str, ...]) -> str:
    return (
        f"{path}: {', '.join(old)} {'belong' if len(old) > 1 else 'belongs'} under settings now."
        " At the top of the file it is read as before."
    )


def _tuples(item: Any) -> Any:
    return tuple(item) if is_list(item) else item
