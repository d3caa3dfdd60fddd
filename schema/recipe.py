"""Recipes: how teams evolve over a stream of tasks, as a value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from .loading import read_shape
from .values import is_list

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["Recipe", "load_recipe"]

Component = Literal["prompts", "model_id", "tools", "topology", "parameters"]
CostUnit = Literal["tokens", "usd", "calls", "seconds"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Recipe:
    """A recipe. The fields are those of its file; `mas explain evolution` tells them.

    `cost_unit` and `cost_per` are what the file has under `cost`; `policy` is a path.
    """

    strategy: str
    seeds: tuple[str, ...] = ("seed:peer_review", "seed:majority_vote", "seed:debate")
    parents: int = 3
    steps: int = 3
    instantiate: bool = True
    operators: Literal["model", "chance"] = "model"
    components: tuple[Component, ...] = ("prompts", "model_id", "tools", "topology", "parameters")
    crossover: tuple[float, ...] = (0.0, 0.67)
    meta_model: str = "default"
    score: Literal["answer", "judge"] = "answer"
    rubric: str = ""
    judge_samples: int = 1
    beta: float = 0
    cost_unit: CostUnit = "tokens"
    cost_per: float = 100_000
    workers: int = 8
    seed: int = 0
    memory: int = 3
    policy: str | None = None


def load_recipe(path: str | Path) -> Recipe:
    """Load a recipe.

    Raises:
        InputError: There is no such file, or it cannot be read.
        ConfigError: The file does not load; the exception has every problem with its place.
    """
    said: dict[str, Any] = dict(read_shape(path, "evolution"))
    cost: dict[str, Any] = said.pop("cost", None) or {}
    fields: dict[str, Any] = {
        **{key: tuple(item) if is_list(item) else item for key, item in said.items()},
        **{f"cost_{key}": item for key, item in cost.items()},
    }
    return Recipe(**fields)
