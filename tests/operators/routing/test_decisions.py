"""Who works on a case, and how that is said."""

import json

import pytest

from coterie.operators.routing import Always, Condition, Decision, Linear, Rule
from coterie.schema.values.codec import to_value

LONG = Condition(feature="words", threshold=100, above=True)
FEW = Condition(feature="numbers", threshold=3, above=False)


@pytest.mark.parametrize(
    ("joined", "words", "numbers", "chosen"),
    [
        ("all", 101, 3, "team"),
        ("all", 101, 4, "single"),
        ("all", 100, 3, "single"),
        ("any", 101, 4, "team"),
        ("any", 100, 3, "team"),
        ("any", 100, 4, "single"),
    ],
)
def test_a_rule_of_two_conditions(joined: str, words: float, numbers: float, chosen: str) -> None:
    rule = Rule(conditions=(LONG, FEW), joined=joined)  # type: ignore[arg-type]
    assert rule.choose({"words": words, "numbers": numbers}) == chosen


def test_a_case_of_which_a_feature_is_not_known_goes_where_the_rule_says() -> None:
    for unknown in ("single", "team"):
        assert Rule(conditions=(LONG, FEW), unknown=unknown).choose({"words": 500}) == unknown


def test_a_linear_decision_takes_the_mean_for_what_is_not_known() -> None:
    linear = Linear(
        weights={"words": 1.0, "numbers": -2.0},
        middles={"words": 100.0, "numbers": 3.0},
        spreads={"words": 50.0, "numbers": 1.0},
        bias=-0.5,
    )
    assert linear.choose({"words": 130, "numbers": 3}) == "team"
    assert linear.choose({"words": 130, "numbers": 4}) == "single"
    assert linear.choose({"words": 130}) == "team"
    assert linear.choose({}) == "single"


@pytest.mark.parametrize(
    ("decision", "message"),
    [
        (Always(choice="single"), "always the single agent"),
        (Rule(conditions=(LONG,)), "the team where words > 100; else the single agent"),
        (
            Rule(conditions=(LONG, FEW), joined="any"),
            "the team where words > 100 or numbers <= 3; else the single agent",
        ),
        (
            Linear(weights={"a": 0.5, "b": -1}, middles={}, spreads={}, bias=0.25),
            "the team by the weights b -1.00, a +0.50, bias +0.25",
        ),
    ],
)
def test_it_can_be_said(decision: Decision, message: str) -> None:
    assert str(decision) == message
    json.dumps(to_value(decision))
