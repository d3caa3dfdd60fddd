"""Recipes as values: how teams evolve over a stream of tasks.

A recipe has fields that every strategy reads. Its `settings` are those of its own strategy, which
also provides their JSON Schema.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, is_dataclass
from pathlib import Path
from typing import Any, Literal

from ..checking._shape import shape_schema
from ..host.catalogue import Catalogue
from ..host.settings import Configurable, find_strategy
from ..values.document import Document
from ..values.errors import ConfigError, InputError, without_problems
from ..values.problems import Problem, quoted
from ..values.values import frozen, is_mapping
from ..values.yaml_text import read_yaml
from .loading import read_file, shape_only
from .scorers import scorer_of

CostUnit = Literal["tokens", "usd", "calls", "seconds"]
Reuse = Literal["auto", "always", "never"]

DEFAULT_SEEDS = ("seed:peer_review", "seed:majority_vote", "seed:debate")
"""The initial pool of EvoMAS Table 7 for reasoning and tool use."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Recipe:
    """A recipe. The fields are those of its file; `mas dev explain evolution` shows them.

    `settings` is a value of the strategy's own type; `cost_unit` and `cost_per` are the fields
    under `cost`; `policy` is a path.
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
    scorer: Any = None


def load_recipe(path: str | Path) -> Recipe:
    """Load a recipe.

    Raises:
        InputError: The file does not exist or cannot be read, or its strategy cannot be imported.
        ConfigError: The file does not load; the exception has every problem with its place.
    """
    document, problems = read_yaml(read_file(path), str(path))
    strategy = _strategy(document, problems)
    document, problems = shape_only(document, problems, _schema(strategy))
    if problems or strategy is None:  # without a strategy, there is a problem
        raise ConfigError(problems)
    recipe, unsuited = recipe_of(strategy, document.value)
    if unsuited:
        raise ConfigError(_problems(document, unsuited))
    return recipe


def recipe_of(
    strategy: Configurable, written: Mapping[str, Any]
) -> tuple[Recipe, Mapping[str, str]]:
    """Build a recipe from fields of the right shape, and return problems by setting.

    Args:
        written: The fields, as in a file.
    """
    fields: dict[str, Any] = {**written}
    values: dict[str, Any] = fields.pop("settings", None) or {}
    settings = strategy.settings(**frozen(values))
    if not is_dataclass(settings) or isinstance(settings, type):
        name = written["strategy"]
        raise InputError(
            f"settings of the strategy {name} gave no dataclass, but {quoted(settings)}."
            " Correct it."
        )
    cost: dict[str, Any] = fields.pop("cost", None) or {}
    fields = {"seeds": strategy.seeds} | frozen(fields)
    costs = {f"cost_{key}": item for key, item in cost.items()}
    recipe = Recipe(settings=settings, **fields, **costs)
    return recipe, strategy.check(settings, values) or strategy.check_recipe(recipe)


def scorer_of_recipe(path: str | Path, recipe: Recipe, catalogue: Catalogue) -> Any:
    """Return the scorer of tasks that name none, as in a task file; None: the scorer `exact`.

    Raises:
        InputError: The file cannot be read any more.
        ConfigError: There is no such scorer, or this host does not grant its Python file.
    """
    if recipe.scorer is None:
        return None
    document, _ = read_yaml(read_file(path), str(path))
    chosen, problems = scorer_of(recipe.scorer, document, Path(path).parent, catalogue)
    without_problems(chosen, problems)
    return {"name": chosen.name, **chosen.options}


def seeds_problem(path: str | Path, wrong: str) -> Problem:
    """Return the problem of a recipe's teams, placed at `seeds` if written, else at `strategy`.

    Args:
        path: The recipe, which has been loaded.
    """
    document, _ = read_yaml(read_file(path), str(path))
    return document.problem(("seeds" if "seeds" in document.value else "strategy",), wrong)


def settings_problems(path: str | Path, wrong: Mapping[str, str]) -> list[Problem]:
    """Return the problems of a recipe's settings, each with its place.

    Args:
        path: The recipe, which has been loaded.
        wrong: The messages, by the name of the setting.
    """
    document, _ = read_yaml(read_file(path), str(path))
    return _problems(document, wrong)


def _problems(document: Document, wrong: Mapping[str, str]) -> list[Problem]:
    return sorted(document.problem(("settings", name), why) for name, why in wrong.items())


def _strategy(document: Document, problems: list[Problem]) -> Configurable | None:
    """Return a recipe's strategy; if it cannot be found, add a problem and return None."""
    name = document.value.get("strategy") if is_mapping(document.value) else None
    if not isinstance(name, str) or not name:
        return None
    try:
        return find_strategy(name)
    except InputError as error:
        problems.append(document.problem(("strategy",), str(error)))
        return None


def _schema(strategy: Configurable | None) -> Mapping[str, Any]:
    common = shape_schema("evolution")
    if strategy is None:
        return common
    fields = common["properties"]
    settings = {**fields["settings"], **strategy.schema}
    return {**common, "properties": {**fields, "settings": settings}}
