"""Fitting: rules are the best there are, and a regression needs what may not be installed."""

import itertools
import math
import sys
from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coterie.operators.routing import Always, Case, Linear, Rule, fit, missing
from coterie.operators.routing.learners import LEARNERS
from coterie.schema.values.errors import InputError
from coterie.schema.values.extras import how_to_get

from .cases import by_length, case, gauged, world

CONSTANT, STUMP, PAIR = LEARNERS["rule"]
SCORES = st.sampled_from([0.0, 0.5, 1.0])
SMALL = st.integers(0, 3).map(float)
CASES = st.lists(st.tuples(SCORES, SCORES, SMALL, SMALL), min_size=1, max_size=8).map(
    lambda rows: [
        case(str(n), value, two, words=words, numbers=numbers)
        for n, (value, two, words, numbers) in enumerate(rows)
    ]
)


def gained(cases: Sequence[Case], chosen: Sequence[bool]) -> float:
    """What cases are worth more than with the single agent alone, where the team has some."""
    pairs = zip(cases, chosen, strict=True)
    return math.fsum(item.team.score - item.single.score for item, team in pairs if team)


def tried(cases: Sequence[Case]) -> list[list[bool]]:
    """Which cases have a feature on one side of some value, for each that tells cases apart."""
    result = [
        [(item.features[name] > value) == above for item in cases]
        for name in ("words", "numbers")
        for value in range(4)
        for above in (True, False)
    ]
    return [hold for hold in result if any(hold) and not all(hold)]


@given(CASES)
def test_no_rule_of_one_or_two_conditions_is_worth_more(cases: list[Case]) -> None:
    alone = tried(cases)
    joined = [
        [*map(item, a, b)]
        for a, b in itertools.product(alone, repeat=2)
        for item in (lambda x, y: x and y, lambda x, y: x or y)
    ]
    for level, options in ((STUMP, alone), (PAIR, joined)):
        decision = level(cases, 0)
        chosen = [decision.choose(item.features) == "team" for item in cases]
        if not options:
            assert isinstance(decision, Always)
            continue
        assert gained(cases, chosen) == max(gained(cases, option) for option in options)


@given(CASES)
def test_the_constant_is_the_better_one_and_of_two_alike_the_cheaper(cases: list[Case]) -> None:
    gain = gained(cases, [True] * len(cases))
    assert CONSTANT(cases, 0) == Always(choice="team" if gain > 0 else "single")


def test_what_a_team_costs_counts_where_the_recipe_says_so() -> None:
    cases = [case(str(n), 0.5, 0.53, words=float(n)) for n in range(20)]
    assert fit(cases).decision == Always(choice="team")
    assert fit(cases, beta=1).decision == Always(choice="single")


def test_a_judged_feature_has_to_be_worth_its_call() -> None:
    """It tells a bit more than the one that is counted, and costs 0.1 a case."""
    cases = [
        gauged(case(str(n), n % 2, 1 - n % 2, words=float(n % 2)), complexity=1.0 - n % 2)
        for n in range(30)
    ]
    cases[0] = replace(cases[0], features={"words": 1.0, "complexity": 1.0})
    assert fit(cases).decision.features == ("complexity",)
    assert fit(cases, beta=0.5).decision.features == ("words",)
    assert (fit(cases).asks, fit(cases, beta=0.5).asks) == (True, False)


def test_cases_without_a_feature_are_left_out_and_go_with_the_better_constant() -> None:
    cases = [gauged(item, complexity=item.features["words"]) for item in world(60, by_length)]
    cases[3] = replace(cases[3], features={"words": cases[3].features["words"]})
    rule = STUMP(cases, 0)
    assert isinstance(rule, Rule)
    assert rule.unknown == CONSTANT(cases, 0).choose({})


def test_where_no_case_has_all_features_it_is_the_constant() -> None:
    cases = [case("a", 0, 1, words=1.0), case("b", 1, 0, numbers=2.0), case("c", 0, 1)]
    assert STUMP(cases, 0) == PAIR(cases, 0) == Always(choice="team")


def test_many_values_are_looked_at_where_cases_are() -> None:
    cases = [case(str(n), float(n < 150), float(n >= 150), words=n**3) for n in range(200)]
    rule = STUMP(cases, 0)
    chosen = [rule.choose(item.features) == "team" for item in cases]
    assert 100 < gained(cases, chosen) + 150 <= 200


def test_a_regression_finds_what_decides_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("sklearn")
    router = fit(world(80, by_length), by="logistic")
    monkeypatch.setitem(sys.modules, "sklearn", None)
    assert isinstance(router.decision, Linear)
    assert router.choose({"words": 190.0, "numbers": 6.0}) == "team"
    assert router.choose({"words": 10.0, "numbers": 6.0}) == "single"


def test_a_regression_of_cases_that_all_go_one_way_is_the_constant() -> None:
    cases = [case(str(n), 0, 1, words=float(n)) for n in range(12)]
    assert LEARNERS["logistic"][1](cases, 0) == Always(choice="team")


def test_without_its_library_a_regression_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sklearn", None)
    monkeypatch.setitem(sys.modules, "sklearn.linear_model", None)
    text = missing("logistic")
    assert text is not None
    assert how_to_get("router") in text
    assert missing("rule") is None
    with pytest.raises(InputError, match="by: logistic needs scikit-learn"):
        fit(world(40, by_length), by="logistic")
