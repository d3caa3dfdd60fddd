"""How a run's score is shared out and utterances are selected: by hand, and whatever is given."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coterie.operators.credit import decay_weights, fused, ratios, selected

SCORES = st.floats(0, 1)
WORTH = st.dictionaries(st.sampled_from("abcdefgh"), st.floats(-1, 1))
REWARDS = st.dictionaries(
    st.tuples(st.sampled_from("abc"), st.integers(1, 4)), st.sampled_from([0.0, 0.25, 0.5, 1.0])
)


@pytest.mark.parametrize(
    ("turns", "gamma", "favour", "weights"),
    [
        (3, 0.5, "later", (1 / 7, 2 / 7, 4 / 7)),  # 1/4, 1/2, 1 of 7/4
        (3, 0.5, "earlier", (4 / 7, 2 / 7, 1 / 7)),
        (2, 0.9, "later", (9 / 19, 10 / 19)),
        (4, 1.0, "later", (1 / 4,) * 4),
        (3, 0.0, "later", (0.0, 0.0, 1.0)),
        (1, 0.3, "earlier", (1.0,)),
        (0, 0.3, "later", ()),
    ],
)
def test_the_decay_of_equation_10(turns, gamma, favour, weights) -> None:
    assert decay_weights(turns, gamma=gamma, favour=favour) == pytest.approx(weights)


@pytest.mark.parametrize(
    ("worth", "shares"),
    [
        ({"a": 0.2, "b": 0.6, "c": 0.0}, {"a": 0.25, "b": 0.75, "c": 0.0}),
        ({"a": 0.5, "b": -0.5, "c": 0.5}, {"a": 0.5, "b": 0.0, "c": 0.5}),
        ({"a": 0.0, "b": -1.0}, {"a": 0.5, "b": 0.5}),
        ({}, {}),
    ],
)
def test_the_ratios_of_equation_11(worth, shares) -> None:
    assert ratios(worth) == pytest.approx(shares)


@given(WORTH.filter(bool))
def test_ratios_sum_to_one_and_follow_worth(worth: dict[str, float]) -> None:
    shares = ratios(worth)
    assert shares.keys() == worth.keys()
    assert math.fsum(shares.values()) == pytest.approx(1)
    assert all(0 <= share <= 1 for share in shares.values())
    assert all(
        shares[name] >= shares[other]
        for name in worth
        for other in worth
        if worth[name] >= worth[other]
    )


@pytest.mark.parametrize(
    ("individual", "share", "weight", "reward"),
    [
        (1.0, 0.5, 0.4, 0.7),  # 0.4 * 1 + 0.6 * 0.5, the weights of teaching
        (0.25, 1.0, 0.5, 0.625),
        (0.3, 0.9, 1.0, 0.3),
        (0.3, 0.9, 0.0, 0.9),
    ],
)
def test_the_fusion_of_equation_12(individual, share, weight, reward) -> None:
    assert fused(individual, share, individual_weight=weight) == pytest.approx(reward)


def test_a_reward_from_score_to_selection_by_hand() -> None:
    """Two turns at gamma 1/2, of a run that scored 0.9: Eq. 10 to 13 in a row."""
    first, second = decay_weights(2, gamma=0.5)  # 1/3, 2/3
    shares = ratios({"ann": 0.9, "bob": 0.3})  # 3/4, 1/4
    rewards = {
        ("ann", 1): fused(0.5, 0.9 * first * shares["ann"], individual_weight=0.4),
        ("bob", 1): fused(1.0, 0.9 * first * shares["bob"], individual_weight=0.4),
        ("ann", 2): fused(0.5, 0.9 * second * shares["ann"], individual_weight=0.4),
        ("bob", 2): fused(0.0, 0.9 * second * shares["bob"], individual_weight=0.4),
    }
    by_hand = {("ann", 1): 0.335, ("bob", 1): 0.445, ("ann", 2): 0.47, ("bob", 2): 0.09}
    assert rewards == pytest.approx(by_hand)
    assert selected(rewards, share=0.25, threshold=0.2) == (("ann", 2),)
    assert selected(rewards, share=0.5, threshold=0.2) == (("ann", 2), ("bob", 1))
    assert selected(rewards, share=1, threshold=0.335) == (("ann", 2), ("bob", 1))


@pytest.mark.parametrize(
    ("share", "threshold", "kept"),
    [
        (0.25, 0.0, ("a",)),  # one of five
        (0.4, 0.0, ("a", "b")),
        (0.6, 0.0, ("a", "b", "c")),  # b, c and d are alike: the key decides
        (0.05, 0.0, ("a",)),  # at least one
        (0.0, 0.0, ()),
        (1.0, 0.4, ("a", "b", "c", "d")),
        (1.0, 0.5, ("a",)),
        (1.0, 0.9, ()),
    ],
)
def test_the_selection_of_equation_13(share, threshold, kept) -> None:
    rewards = {"e": 0.1, "d": 0.5, "c": 0.5, "b": 0.5, "a": 0.9}
    assert selected(rewards, share=share, threshold=threshold) == kept


@given(REWARDS, st.sampled_from([0.0, 0.25, 0.4]), st.data())
def test_a_selection_is_the_best_and_no_more_than_the_share(rewards, share, data) -> None:
    threshold = data.draw(SCORES)
    turned = dict(data.draw(st.permutations([*rewards.items()])))
    kept = selected(rewards, share=share, threshold=threshold)
    assert selected(turned, share=share, threshold=threshold) == kept
    assert len(kept) <= max(1, share * len(rewards) + 1e-6)
    assert all(rewards[item] > threshold for item in kept)
    left = [reward for item, reward in rewards.items() if item not in kept]
    assert all(rewards[item] >= max(left, default=0.0) for item in kept)
