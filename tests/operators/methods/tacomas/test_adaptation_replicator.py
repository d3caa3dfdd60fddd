"""The replicator: laws of its weights, whatever agents contribute."""

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
def test_it_is_the_paper_s_equation(before: tuple[Mapping[str, float], ...], eta: float) -> None:
    weights, contributions = before
    grown = {agent: weights[agent] * math.exp(eta * contributions[agent]) for agent in weights}
    after = replicated(weights, contributions, eta=eta)
    assert dict(after) == pytest.approx({a: value / whole(grown) for a, value in grown.items()})
    assert whole(after) == pytest.approx(1)


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
