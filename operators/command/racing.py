"""A race of a team's children, as `mas-evolve TEAM TASKS` begins it without a recipe."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...schema.loading.loading import read_file
from ...schema.loading.recipe import Recipe
from ...schema.loading.seeds import is_seed, located
from ...schema.values.values import is_mapping
from ...schema.values.yaml_text import read_yaml
from ..evolution.strategy import strategy_of

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["RACE", "race_of"]

RACE = "race"
WORKERS = 4


def race_of(path: Path) -> Recipe | None:
    """Return the recipe of a race, if a file is a team and no recipe itself.

    Args:
        path: A file, a team's folder, or `seed:NAME`.

    Raises:
        InputError: There is no such file or seed.
    """
    if not (is_seed(path) or path.is_dir()):
        document, _ = read_yaml(read_file(path), str(path))
        if not (is_mapping(document.value) and "agents" in document.value):
            return None
    located(path)
    strategy = strategy_of(RACE)
    seed = str(path) if is_seed(path) else path.name
    return Recipe(strategy=RACE, settings=strategy.settings(), seeds=(seed,), workers=WORKERS)
