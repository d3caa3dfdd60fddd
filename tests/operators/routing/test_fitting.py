"""Routers: as simple as the cases allow, and never fitted to what they are scored on."""

import random
from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from coterie.operators.routing import Always, RoutingOutcome, Rule, fit
from coterie.operators.routing.fitting import out_of_fold

from .cases import by_length, world


def alike(_words: float) -> tuple[float, float]:
    return 0.5, 0.5


def test_where_one_feature_decides_it_finds_it() -> None:
    for seed in range(5):
        rule = fit(world(80, by_length, seed=seed)).decision
        assert isinstance(rule, Rule)
        [condition] = rule.conditions
        assert (condition.feature, condition.above) == ("words", True)
        assert 75 < condition.threshold < 125


def test_where_nothing_beats_a_constant_it_is_one_and_says_so() -> None:
    router = fit(world(60, lambda _: (0.2, 0.9)))
    assert (router.decision, router.level, router.asks) == (Always(choice="team"), 0, False)
    assert str(router) == "always the team: nothing beats that in cross-validation on 60 cases"


def test_of_few_cases_it_looks_at_no_features() -> None:
    router = fit(world(9, by_length))
    assert router.level == 0
    assert "9 cases are too few" in str(router)
    assert fit([]).choose({}) == "team"
    assert str(fit([])) == "always the team: there are no cases yet"


@given(st.randoms(use_true_random=False), st.integers(10, 30))
@settings(max_examples=10)
def test_the_order_of_cases_does_not_matter(chance: random.Random, number: int) -> None:
    cases = world(number, by_length)
    assert fit(chance.sample(cases, number)) == fit(cases)


@given(st.integers(0, 19), st.sampled_from([0.0, 1.0]), st.sampled_from([0.0, 1.0]))
@settings(max_examples=10)
def test_how_a_case_went_does_not_route_it(place: int, single: float, team: float) -> None:
    cases = world(20, by_length)
    other = replace(
        cases[place], single=RoutingOutcome(score=single), team=RoutingOutcome(score=team)
    )
    changed = [*cases[:place], other, *cases[place + 1 :]]

    def chosen(those: list) -> dict:  # type: ignore[type-arg]
        decided = out_of_fold(those, lambda rest: fit(rest).decision, 5)
        return {case.task: decision for case, decision in decided}

    assert chosen(changed)[other.task] == chosen(cases)[other.task]


def test_every_case_is_held_out_once() -> None:
    for number, folds in ((2, 5), (7, 5), (20, 3)):
        cases = world(number, alike)
        seen: list[int] = []

        def fitted(rest: object, seen: list[int] = seen) -> Always:
            seen.append(len(rest))  # type: ignore[arg-type]
            return Always(choice="team")

        decided = out_of_fold(cases, fitted, folds)
        assert sorted(case.task for case, _ in decided) == sorted(case.task for case in cases)
        assert len(seen) == min(folds, number)
        assert sum(number - size for size in seen) == number
