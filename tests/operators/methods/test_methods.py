"""A strategy is a loop that a reader takes in at once."""

from __future__ import annotations

import inspect
from importlib.metadata import entry_points
from pathlib import Path

import pytest

from coterie.operators.evolution.strategy import strategy_of

SCREEN = 150
"""Lines."""
OURS = [one.name for one in entry_points(group="coterie.strategies") if "coterie." in one.value]


@pytest.mark.parametrize("name", sorted(OURS))
def test_a_strategy_stays_a_screen(name: str) -> None:
    strategy = strategy_of(name)
    file = Path(inspect.getfile(strategy.whole or strategy.episode))
    assert len(file.read_text("utf-8").splitlines()) <= SCREEN


def test_nothing_but_its_entry_point_names_a_strategy() -> None:
    operators = Path(inspect.getfile(strategy_of)).parent
    core = [one for one in operators.glob("*.py") if one.name not in {"adaptation.py"}]
    for name in ("mattrl", "tacomas"):
        assert not [one.name for one in core if f'"{name}"' in one.read_text("utf-8")]
