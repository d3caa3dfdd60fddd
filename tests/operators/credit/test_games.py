"""What players are worth: the three credits by hand, and the laws of Shapley's on any game."""

import itertools
import math
from collections.abc import Callable, Mapping
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coterie.operators.credit import (
    CreditEstimate,
    averaged,
    difference,
    orders,
    prefixes,
    ratios,
    shapley,
    subsets,
)

Game = Mapping[frozenset[str], float]


@st.composite
def games(draw: st.DrawFn, most: int = 5) -> tuple[str, Game]:
    """Players, and any score of any coalition of them."""
    players = "abcdef"[: draw(st.integers(1, most))]
    return players, {subset: draw(st.floats(0, 1)) for subset in subsets(players)}


def glove(coalition: frozenset[str]) -> float:
    """One left glove, two right ones: a pair scores."""
    return float("left" in coalition and len(coalition) > 1)


def by_orders(value: Game, players: str) -> dict[str, float]:
    """Compute Shapley values as Eq. 18 has them: the mean over all orders."""
    estimates = averaged(value, [*itertools.permutations(players)] * 2)
    return {player: estimate.value for player, estimate in estimates.items()}


def test_difference_by_hand() -> None:
    """Who can be replaced is worth nothing, whoever else could be, too (MATTRL Eq. 17)."""
    assert difference(glove, ["left", "one", "two"]) == {"left": 1.0, "one": 0.0, "two": 0.0}


def test_shapley_by_hand() -> None:
    """The left glove comes first in 2 of 6 orders, and adds nothing there (MATTRL Eq. 18)."""
    worth = shapley(glove, ["left", "one", "two"])
    assert worth == pytest.approx({"left": 4 / 6, "one": 1 / 6, "two": 1 / 6})


def test_shapley_of_two_by_hand() -> None:
    value = {
        frozenset(): 0.0,
        frozenset("a"): 0.2,
        frozenset("b"): 0.4,
        frozenset("ab"): 1.0,
    }
    assert shapley(value, "ab") == pytest.approx({"a": 0.4, "b": 0.6})
    assert difference(value, "ab") == pytest.approx({"a": 0.6, "b": 0.8})
    assert ratios(shapley(value, "ab")) == pytest.approx({"a": 0.4, "b": 0.6})


def test_sampled_shapley_by_hand() -> None:
    """In two orders the left glove is last, in one it is first."""
    drawn = (("one", "two", "left"), ("left", "one", "two"), ("two", "one", "left"))
    worth = averaged(glove, drawn)
    assert worth["left"].gains == (1.0, 0.0, 1.0)
    assert worth["left"].value == pytest.approx(2 / 3)
    assert worth["left"].error == pytest.approx(1 / 3)  # variance 1/3 over 3 orders
    assert worth["two"].gains == (0.0, 0.0, 0.0)


@given(games())
def test_shapley_is_the_mean_over_all_orders(game: tuple[str, Game]) -> None:
    players, value = game
    assert shapley(value, players) == pytest.approx(by_orders(value, players))


@given(games())
def test_efficiency(game: tuple[str, Game]) -> None:
    players, value = game
    shared = value[frozenset(players)] - value[frozenset()]
    assert math.fsum(shapley(value, players).values()) == pytest.approx(shared)
    sampled = averaged(value, orders(players, permutations=3, rng=Random(5)))
    assert math.fsum(item.value for item in sampled.values()) == pytest.approx(shared)


@pytest.mark.parametrize("worth", [difference, shapley])
def test_a_coalition_is_asked_once(worth: Callable[..., object]) -> None:
    asked: list[frozenset[str]] = []

    def value(coalition: frozenset[str]) -> float:
        asked.append(coalition)
        return 0.5

    worth(value, "abcd")
    assert len(asked) == len({*asked}) == (5 if worth is difference else 16)


def test_orders_are_drawn_from_their_seed_alone() -> None:
    drawn = orders("abcd", permutations=5, rng=Random(7))
    assert drawn == orders("abcd", permutations=5, rng=Random(7))
    assert all(sorted(order) == ["a", "b", "c", "d"] for order in drawn)


@given(games(), st.integers(2, 6), st.integers())
def test_a_sample_needs_prefixes_only(game: tuple[str, Game], permutations: int, seed: int) -> None:
    players, value = game
    needed = prefixes(orders(players, permutations=permutations, rng=Random(seed)))
    assert len(needed) == len({*needed}) <= 2 + permutations * (len(players) - 1)
    asked = {item: value[item] for item in needed}
    sampled = averaged(asked, orders(players, permutations=permutations, rng=Random(seed)))
    assert all(len(item.gains) == permutations for item in sampled.values())


@given(st.lists(st.floats(-1, 1), min_size=2, max_size=20))
def test_an_interval_holds_its_estimate_and_grows_with_its_level(gains: list[float]) -> None:
    estimate = CreditEstimate(gains=tuple(gains))
    (low, high), (lower, higher) = estimate.interval(), estimate.interval(0.99)
    assert lower <= low <= estimate.value <= high <= higher
    assert low < high
