"""Recipes: how teams evolve over a stream of tasks, as a value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from .errors import ConfigError
from .loading import read_document
from .problems import quoted
from .values import is_list

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

__all__ = ["Recipe", "load_recipe"]

Component = Literal["prompts", "model_id", "tools", "topology", "parameters"]
CostUnit = Literal["tokens", "usd", "calls", "seconds"]
Move = Literal["mutate", "crossover"]

DEFAULT_SEEDS = ("seed:peer_review", "seed:majority_vote", "seed:debate")
"""The pool of EvoMAS Table 7 for reasoning and the use of tools."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Recipe:
    """A recipe. The fields are those of its file; `mas explain evolution` tells them.

    `cost_unit` and `cost_per` are what the file has under `cost`; `policy` is a path.
    """

    strategy: str
    seeds: tuple[str, ...] = DEFAULT_SEEDS
    parents: int = 3
    steps: int = 3
    instantiate: bool = True
    operators: Literal["model", "chance"] = "model"
    moves: tuple[Move, ...] = ("mutate", "crossover")
    choice: Literal["model", "schedule", "outcome", "chance"] = "model"
    select: Literal["model", "statistics", "chance"] = "model"
    parent: Literal["promising", "best", "chance"] = "promising"
    trace: bool = True
    components: tuple[Component, ...] = ("prompts", "model_id", "tools", "topology", "parameters")
    crossover: tuple[float, ...] = (0.0, 0.67)
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
    memory: int = 3
    repeats: int = 1
    admission: Literal["gain", "best", "none"] = "gain"
    margin: float = 0
    cap: int | None = None
    policy: str | None = None


def load_recipe(path: str | Path) -> Recipe:
    """Load a recipe.

    Raises:
        InputError: There is no such file, or it cannot be read.
        ConfigError: The file does not load; the exception has every problem with its place.
    """
    document = read_document(path, "evolution")
    said: dict[str, Any] = dict(document.value)
    cost: dict[str, Any] = said.pop("cost", None) or {}
    fields: dict[str, Any] = {
        **{key: tuple(item) if is_list(item) else item for key, item in said.items()},
        **{f"cost_{key}": item for key, item in cost.items()},
    }
    recipe = Recipe(**fields)
    if unread := _unread(recipe, document.value):
        raise ConfigError([document.problem((name,), why) for name, why in unread.items()])
    return recipe


def _unread(recipe: Recipe, said: Mapping[str, Any]) -> dict[str, str]:
    """Find fields that somebody wrote and that nothing would read beside the others."""
    found: dict[str, str] = {}
    if "crossover" in said and recipe.choice == "model":
        found["crossover"] = (
            f"{quoted(said['crossover'])} is drawn from only where the meta-model does not decide."
            " Write choice: chance beside it; or leave it out, and for no crossover at all write"
            " moves: [mutate]."
        )
    if "margin" in said and recipe.admission != "gain":
        found["margin"] = (
            f"{quoted(said['margin'])} is looked at only with admission: gain, and here is"
            f" admission: {recipe.admission}. Leave one of them out."
        )
    return found
