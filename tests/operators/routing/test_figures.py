"""What is told of a router: what it is worth, saved and cost, with intervals."""

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coterie.operators.routing import Case, CaseSpending, figures

from .cases import SINGLE, TEAM, by_length, case, gauged, world

SCORES = st.sampled_from([0.0, 0.5, 1.0])
CASES = st.lists(st.tuples(SCORES, SCORES, st.integers(0, 3)), min_size=2, max_size=14).map(
    lambda rows: [
        case(str(n), value, two, words=float(words)) for n, (value, two, words) in enumerate(rows)
    ]
)


@given(CASES, st.sampled_from([0.0, 2.0]))
def test_nobody_beats_the_oracle_and_calls_are_the_workers(cases: list[Case], beta: float) -> None:
    result = figures(cases, beta=beta)
    assert result is not None
    for name, arm in result.arms.items():
        assert arm.worth <= result.arms["oracle"].worth + 1e-9, name
        assert arm.interval[0] <= arm.score <= arm.interval[1]
        others = len(cases) - arm.team
        assert arm.spent.calls == arm.team * TEAM.calls + others * SINGLE.calls
        assert arm.worth == pytest.approx(arm.score - beta * arm.spent.cost / len(cases))
    for name, gain in result.over.items():
        arms = result.arms["router"], result.arms[name]
        assert gain.worth == pytest.approx(arms[0].worth - arms[1].worth)
        assert gain.interval[0] <= gain.worth <= gain.interval[1]
        assert gain.spent.tokens == arms[0].spent.tokens - arms[1].spent.tokens


def test_a_router_that_asks_pays_for_asking_and_the_others_do_not() -> None:
    cases = [
        gauged(replace(item, features={}), complexity=item.features["words"])
        for item in world(60, by_length)
    ]
    result = figures(cases)
    assert result is not None
    assert result.router.asks
    working = result.arms["router"].team * TEAM.calls + (60 - result.arms["router"].team)
    assert result.arms["router"].spent.calls == working + 60
    assert result.arms["single"].spent.calls == 60
    assert result.arms["oracle"].worth >= result.arms["router"].worth


def test_the_figures_for_people_have_sizes_and_intervals() -> None:
    result = figures(world(60, by_length))
    assert result is not None
    texts = str(result).splitlines()
    assert texts[0] == "router, cross-validated in 5 folds of 60 train cases:"
    assert [line.split()[0] for line in texts[2:6]] == ["single", "team", "router", "oracle"]
    assert all("[" in line for line in texts[2:8])
    assert "less always team: +" in texts[7]
    assert "calls less" in texts[7]
    assert texts[-1].startswith("fitted to all of them: the team where words >")


def test_the_figures_as_json_have_the_same() -> None:
    result = figures(world(30, by_length))
    assert result is not None
    value = json.loads(json.dumps(result.value()))
    assert value["n"] == 30
    assert value["router"]["says"] == str(result.router)
    assert value["over"]["team"]["spent"]["calls"] < 0
    assert CaseSpending(**value["oracle"]["spent"]) == result.arms["oracle"].spent


def test_a_single_case_has_no_figures() -> None:
    assert figures(world(1, by_length)) is None


def test_intervals_hold_where_a_team_costs_more_than_any_score() -> None:
    result = figures(world(20, by_length), beta=100)
    assert result is not None
    gain = result.over["team"]
    assert gain.worth > 1
    assert gain.interval[0] < gain.worth < gain.interval[1]
