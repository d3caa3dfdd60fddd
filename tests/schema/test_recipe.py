"""Recipes: common fields, and settings that the strategy's own schema checks."""

from __future__ import annotations

from pathlib import Path

import pytest

from coterie.schema.errors import ConfigError
from coterie.schema.recipe import Recipe, load_recipe

OLD = """\
strategy: evomas
seeds: [solo.yaml]
steps: 1
components: [prompts]
cost: {unit: usd, per: 2}
"""
NEW = """\
strategy: evomas
seeds: [solo.yaml]
settings:
  steps: 1
  components: [prompts]
cost: {unit: usd, per: 2}
"""


def load(folder: Path, text: str) -> tuple[Recipe, list[str]]:
    path, notes = folder / "recipe.yaml", list[str]()
    path.write_text(text)
    return load_recipe(path, notes.append), notes


def problems(folder: Path, text: str) -> list[str]:
    with pytest.raises(ConfigError) as caught:
        load(folder, text)
    return [
        f"{one.place.line}:{one.place.column} {one.path} {one.message}"
        for one in caught.value.problems
    ]


def test_settings_have_the_defaults_of_their_strategy(tmp_path: Path) -> None:
    recipe, notes = load(tmp_path, NEW)
    settings = recipe.settings
    assert (settings.steps, settings.parents, settings.components) == (1, 3, ("prompts",))
    assert (recipe.cost_unit, recipe.cost_per, notes) == ("usd", 2, [])


def test_settings_at_the_top_are_read_as_before_and_told_where_they_belong(tmp_path: Path) -> None:
    recipe, (note,) = load(tmp_path, OLD)
    assert recipe == load(tmp_path, NEW)[0]
    assert note == (
        f"{tmp_path / 'recipe.yaml'}: steps, components belong under settings now. At the top of"
        " the file it is read as before."
    )


@pytest.mark.parametrize("strategy", ["best_of_n", "fixed"])
def test_one_word_makes_a_recipe_its_own_baseline(tmp_path: Path, strategy: str) -> None:
    recipe, _ = load(tmp_path, NEW.replace("evomas", strategy))
    assert (recipe.strategy, recipe.settings) == (strategy, load(tmp_path, NEW)[0].settings)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"{NEW}parents: 2\n", "7:1 parents it belongs under settings, which are here as well."),
        (NEW.replace("steps: 1", "steps: few"), "4:10 settings.steps 'few' is not an integer"),
        (NEW.replace("steps: 1", "step: 1"), "4:3 settings.step unknown field. Did you mean"),
        (OLD.replace("steps: 1", "steps: 101"), "3:8 steps 101 is out of range"),
        (f"{OLD}stepz: 1\n", "6:1 stepz unknown field. Did you mean 'steps'?"),
        (NEW.replace("evomas", "evoma"), "1:11 strategy no strategy 'evoma'. Did you mean"),
        (NEW.replace("steps: 1", "margin: 0.1\n  admission: best"), "4:11 settings.margin 0.1 is"),
        (OLD.replace("steps: 1", "crossover: [0, 1]"), "3:12 crossover [0, 1] is drawn from only"),
        ("seeds: []\n", "1:1  strategy is missing."),
    ],
)
def test_what_is_wrong_is_said_with_its_place(tmp_path: Path, text: str, expected: str) -> None:
    assert any(one.startswith(expected) for one in problems(tmp_path, text)), problems(
        tmp_path, text
    )
