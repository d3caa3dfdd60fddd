"""The replicator: laws of its weights, whatever agents contribute."""

from __future__ import annotations

import math
from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coterie.operators.methods.tacomas.adaptation import even, joined, replicated

AGENTS = ("ant", "bee", "cat", "dog", "elk")
SHARES = st.floats(0, 1)
ETAS = st.floats(0, 5)


@st.composite
def rounds(draw: st.DrawFn) -> tuple[Mapping[str, float], Mapping[str, float]]:
    """Weights as they may be after some rounds, and contributions."""
    agents = draw(st.lists(st.sampled_from(AGENTS), min_size=1, unique=True))
    raw = {agent: draw(st.floats(1e-6, 1)) for agent in agents}
    weights = {agent: value / math.fsum(raw.values()) for agent, value in raw.items()}
    return weights, {agent: draw(SHARES) for agent in agents}


def whole(weights: Mapping[str, float]) -> float:
    return math.fsum(weights.values())


@given(rounds(), ETAS)
def test_weights_are_shares_of_one(before: tuple[Mapping[str, float], ...], eta: float) -> None:
    weights, contributions = before
    after = replicated(weights, contributions, eta=eta)
    assert after.keys() == weights.keys()
    assert whole(after) == pytest.approx(1)
    assert all(0 < item <= 1 for item in after.values())


@given(rounds(), ETAS)
def test_the_order_of_agents_does_not_matter(
    before: tuple[Mapping[str, float], ...], eta: float
) -> None:
    weights, contributions = before
    turned = dict(reversed([*weights.items()]))
    after = replicated(weights, contributions, eta=eta)
    assert dict(replicated(turned, contributions, eta=eta)) == pytest.approx(dict(after))


@given(rounds(), ETAS)
def test_who_contributes_more_gains_on_who_contributes_less(
    before: tuple[Mapping[str, float], ...], eta: float
) -> None:
    weights, contributions = before
    after = replicated(weights, contributions, eta=eta)
    gains = {agent: after[agent] / weights[agent] for agent in weights}
    for weight in weights:
        for other in weights:
            if contributions[weight] >= contributions[other]:
                assert gains[weight] >= gains[other] * (1 - 1e-9)


@given(rounds(), ETAS, SHARES)
def test_where_all_contribute_alike_or_nothing_is_learnt_all_stays_as_it_is(
    before: tuple[Mapping[str, float], ...], eta: float, alike: float
) -> None:
    weights, contributions = before
    equal = dict.fromkeys(weights, alike)
    assert dict(replicated(weights, equal, eta=eta)) == pytest.approx(dict(weights))
    assert dict(replicated(weights, contributions, eta=0)) == pytest.approx(dict(weights))


def test_it_is_the_paper_s_equation() -> None:
    after = replicated({"ant": 0.5, "bee": 0.5}, {"ant": 1, "bee": 0}, eta=1)
    up, down = math.exp(0.5), math.exp(-0.5)
    assert dict(after) == pytest.approx({"ant": up / (up + down), "bee": down / (up + down)})


@given(rounds(), st.lists(st.sampled_from(AGENTS), min_size=1, unique=True))
def test_a_newcomer_has_an_even_share_and_those_that_stay_share_the_rest_as_before(
    before: tuple[Mapping[str, float], ...], agents: list[str]
) -> None:
    weights, _ = before
    after = joined(weights, agents)
    assert [*after] == agents
    assert whole(after) == pytest.approx(1)
    stay = [agent for agent in agents if agent in weights]
    for name in set(agents) - set(stay):
        assert after[name] == pytest.approx(1 / len(agents))
    for name in stay:
        for other in stay:
            assert after[name] * weights[other] == pytest.approx(after[other] * weights[name])


def test_all_begin_with_the_same() -> None:
    assert even(["ant", "bee"]) == {"ant": 0.5, "bee": 0.5}
    assert joined({"ant": 1}, ["bee", "cat"]) == {"bee": 0.5, "cat": 0.5}
