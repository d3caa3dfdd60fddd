"""A strategy is a loop that a reader takes in at once."""

import inspect
from dataclasses import fields
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from coterie.operators.evolution.strategy import strategy_of

SCREEN = 150
"""Lines."""
OURS = [
    point.name for point in entry_points(group="coterie.strategies") if "coterie." in point.value
]


@pytest.mark.parametrize("name", sorted(OURS))
def test_a_strategy_stays_a_screen(name: str) -> None:
    strategy = strategy_of(name)
    file = Path(inspect.getfile(strategy.whole or strategy.episode))
    assert len(file.read_text("utf-8").splitlines()) <= SCREEN


@pytest.mark.parametrize("name", sorted(OURS))
def test_the_schema_has_every_setting_and_allows_its_default_and_its_examples(name: str) -> None:
    strategy = strategy_of(name)
    schema: dict[str, Any] = {**strategy.schema}
    assert {*schema["properties"]} == {field.name for field in fields(strategy.settings())}
    Draft202012Validator.check_schema(schema)
    for setting, form in schema["properties"].items():
        values = [*form.get("examples", ()), *([form["default"]] if "default" in form else ())]
        for value in values:
            Draft202012Validator(schema).validate({setting: value})


def test_nothing_but_its_entry_point_names_a_strategy() -> None:
    operators = Path(inspect.getfile(strategy_of)).parent
    core = [path for path in operators.glob("*.py") if path.name not in {"adaptation.py"}]
    for name in ("mattrl", "tacomas"):
        assert not [path.name for path in core if f'"{name}"' in path.read_text("utf-8")]
