"""`preset: paper`: what it sets, and which recipes it does not go with."""

from pathlib import Path

import pytest

from coterie.schema import ConfigError
from coterie.schema.loading.recipe import load_recipe

COMMON = "workers: 1\nscore: judge\n"


def recipe(folder: Path, settings: str, common: str = COMMON, strategy: str = "evomas") -> Path:
    path = folder / "recipe.yaml"
    path.write_text(f"strategy: {strategy}\n{common}settings: {{{settings}}}\n")
    return path


@pytest.mark.parametrize("strategy", ["evomas", "best_of_n", "fixed"])
def test_the_preset_has_the_published_protocol(tmp_path: Path, strategy: str) -> None:
    lean = load_recipe(recipe(tmp_path, "steps: 5", strategy=strategy)).settings
    assert (lean.preset, lean.admission, lean.early_stop) == ("lean", "gain", True)
    paper = load_recipe(recipe(tmp_path, "preset: paper, steps: 5", strategy=strategy)).settings
    assert (paper.admission, paper.early_stop, paper.steps) == ("best", False, 5)
    assert paper.components == ("prompts", "model_id", "tools", "topology")
    narrow = load_recipe(recipe(tmp_path, "preset: paper, components: [prompts]")).settings
    assert narrow.components == ("prompts",)


@pytest.mark.parametrize(
    ("settings", "common", "problem"),
    [
        ("preset: paper", "workers: 1\n", "3:20: error: settings.preset: paper goes with"),
        ("preset: paper", "score: judge\nworkers: 8\n", "here are workers: 8 and score: judge."),
        ("preset: paper", "", "Write workers: 1 and score: judge into the recipe, or leave preset"),
        (
            "preset: paper, admission: gain",
            COMMON,
            "settings.admission: preset: paper goes with admission: best. Leave one of them out.",
        ),
        (
            "preset: paper, early_stop: true",
            COMMON,
            "settings.early_stop: preset: paper goes with early_stop: false.",
        ),
    ],
)
def test_preset_conflicts_are_one(tmp_path: Path, settings: str, common: str, problem: str) -> None:
    with pytest.raises(ConfigError) as refused:
        load_recipe(recipe(tmp_path, settings, common))
    assert len(refused.value.problems) == 1
    assert problem in str(refused.value)
