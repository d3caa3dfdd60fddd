"""Recipes: common fields, and settings that the strategy's own schema checks."""

from pathlib import Path

import pytest

from coterie.schema.loading.recipe import Recipe, load_recipe
from coterie.schema.values.errors import ConfigError

TEXT = """\
strategy: evomas
seeds: [solo.yaml]
settings:
  steps: 1
  components: [prompts]
cost: {unit: usd, per: 2}
"""


def load(folder: Path, text: str) -> Recipe:
    path = folder / "recipe.yaml"
    path.write_text(text)
    return load_recipe(path)


def problems(folder: Path, text: str) -> list[str]:
    with pytest.raises(ConfigError) as caught:
        load(folder, text)
    return [
        f"{problem.place.line}:{problem.place.column} {problem.path} {problem.message}"
        for problem in caught.value.problems
    ]


def test_settings_have_the_defaults_of_their_strategy(tmp_path: Path) -> None:
    recipe = load(tmp_path, TEXT)
    settings = recipe.settings
    assert (settings.steps, settings.parents, settings.components) == (1, 3, ("prompts",))
    assert (recipe.cost_unit, recipe.cost_per) == ("usd", 2)


@pytest.mark.parametrize("strategy", ["best_of_n", "fixed"])
def test_one_word_makes_a_recipe_its_own_baseline(tmp_path: Path, strategy: str) -> None:
    recipe = load(tmp_path, TEXT.replace("evomas", strategy))
    assert (recipe.strategy, recipe.settings) == (strategy, load(tmp_path, TEXT).settings)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"{TEXT}parents: 2\n", "7:1 parents unknown field."),
        (TEXT.replace("steps: 1", "steps: few"), "4:10 settings.steps 'few' is not an integer"),
        (TEXT.replace("steps: 1", "step: 1"), "4:3 settings.step unknown field. Did you mean"),
        (TEXT.replace("steps: 1", "steps: 101"), "4:10 settings.steps 101 is out of range"),
        (TEXT.replace("evomas", "evoma"), "1:11 strategy no strategy 'evoma'. Did you mean"),
        (TEXT.replace("steps: 1", "margin: 0.1\n  admission: best"), "4:11 settings.margin 0.1 is"),
        (TEXT.replace("steps: 1", "crossover: [0, 1]"), "4:14 settings.crossover [0, 1] is"),
        ("seeds: []\n", "1:1  strategy is missing."),
    ],
)
def test_what_is_wrong_is_said_with_its_place(tmp_path: Path, text: str, expected: str) -> None:
    assert any(problem.startswith(expected) for problem in problems(tmp_path, text)), problems(
        tmp_path, text
    )
