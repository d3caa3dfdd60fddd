"""What specialists are worth: exactly what comes out when their cases are decided."""

from __future__ import annotations

import math
import random
from itertools import combinations
from statistics import fmean

import pytest
from hypothesis import given
from hypothesis import strategies as st

from studies.consulting.landscapes import AGENTS, Kind, Landscape, drawn, level
from studies.consulting.texts import (
    answered,
    answers_in,
    niche_in,
    posed,
    readings_in,
    said,
    title_in,
    way_in,
    way_said,
)
from studies.consulting.world import (
    FINDINGS,
    NICHES,
    WAYS,
    Reading,
    by_leaving_out,
    by_shapley,
    case_of,
    decided,
    effect,
    reading,
    shown,
    soundness,
    title,
    way_of,
    worth,
)

numbers = st.integers(0, 500)


def of(landscape: Landscape, kind: Kind) -> str:
    return next(one.agent for one in landscape.seats if one.kind == kind)


def came_to(landscape: Landscape, group: tuple[str, ...], number: int, added: float) -> float:
    """Have a group read a case and decide it."""
    case = case_of(title(1, number))
    read = [
        reading(landscape, seat, case, finding, effect=added, heard=f"{number}")
        for seat in landscape.seats
        if seat.agent in group
        for finding in shown(landscape, seat, case)
    ]
    answer = decided(landscape, case, read, "")
    return fmean(one == it for one, it in zip(answer, case.findings, strict=True))


@pytest.mark.parametrize("group", [(), AGENTS[:1], AGENTS[1:4], AGENTS])
def test_a_group_is_worth_what_its_cases_come_to(group: tuple[str, ...]) -> None:
    landscape = drawn(2)
    for added in (0.0, 0.8):
        scores = [came_to(landscape, group, number, added) for number in range(400)]
        off = fmean(scores) - worth(landscape, group, added)
        assert abs(off) < 4 * 0.5 / math.sqrt(400 * FINDINGS)


@given(numbers)
def test_what_all_are_worth_is_shared_out_and_alike_go_alike(number: int) -> None:
    landscape = drawn(number)
    shares = by_shapley(landscape)
    gained = worth(landscape, AGENTS) - worth(landscape, ())
    assert sum(shares.values()) == pytest.approx(gained)
    copied, redundant, idle = (of(landscape, one) for one in ("copied", "redundant", "idle"))
    assert shares[copied] == pytest.approx(shares[redundant])
    assert shares[copied] > shares[idle] == pytest.approx(0)
    assert shares[of(landscape, "misleading")] < 0 < shares[of(landscape, "helpful")]
    assert worth(landscape, ()) == pytest.approx(0.5)


@given(numbers)
def test_whoever_says_what_another_says_is_not_missed(number: int) -> None:
    landscape = drawn(number)
    missed = by_leaving_out(landscape)
    for kind in ("copied", "redundant", "idle"):
        assert missed[of(landscape, kind)] == pytest.approx(0)
    assert missed[of(landscape, "helpful")] > 0 > missed[of(landscape, "misleading")]


@given(numbers)
def test_in_a_level_landscape_all_are_worth_the_same(number: int) -> None:
    landscape = level(number)
    for values in (by_shapley(landscape), by_leaving_out(landscape)):
        assert max(values.values()) - min(values.values()) == pytest.approx(0)
    assert worth(landscape, AGENTS) == worth(landscape, AGENTS, landscape.boost - landscape.harm)


def test_a_shapley_value_is_the_mean_over_all_orders() -> None:
    landscape, source = drawn(3), random.Random(0)
    orders = [source.sample(AGENTS, len(AGENTS)) for _ in range(3_000)]
    values = {group: worth(landscape, group) for size in range(6) for group in
              map(frozenset, combinations(AGENTS, size))}  # fmt: skip
    for agent, exact in by_shapley(landscape).items():
        gains: list[float] = []
        for order in orders:
            before = frozenset(order[: order.index(agent)])
            gains.append(values[before | {agent}] - values[before])
        assert fmean(gains) == pytest.approx(exact, abs=0.01)


@given(numbers, numbers)
def test_who_has_the_same_slide_says_the_same(landscape: int, number: int) -> None:
    world, case = drawn(landscape), case_of(title(landscape, number))
    one, other = (world.seat(of(world, kind)) for kind in ("copied", "redundant"))
    assert shown(world, one, case) == shown(world, other, case)
    for finding in shown(world, one, case):
        both = {
            reading(world, seat, case, finding, effect=0.0, heard="so") for seat in (one, other)
        }
        assert len(both) == 1


@given(numbers, st.sampled_from(NICHES))
def test_a_way_that_goes_with_right_readings_helps_in_its_niche(number: int, niche: str) -> None:
    landscape = drawn(number)
    case = case_of(title(0, NICHES.index(niche)))
    assert case.niche == niche
    right = [Reading(at, there, "A") for at, there in enumerate(case.findings[:2])]
    wrong = [Reading(one.finding, not one.there, "A") for one in right]
    for read, mark in ((right, 1), (wrong, -1), ([right[0], wrong[1]], 0), ([], 0)):
        way = way_of(landscape, case, read, "A")
        assert soundness(landscape, niche, way) == mark
        added = effect(landscape, niche, [(niche, way), (niche, way)])
        assert added == (landscape.boost if mark > 0 else -landscape.harm if mark < 0 else 0)
        assert effect(landscape, niche, [("elsewhere", way)]) == 0
    assert sum(soundness(landscape, niche, way) for way in WAYS) == 0


@given(numbers, st.lists(st.booleans(), min_size=FINDINGS, max_size=FINDINGS))
def test_what_is_said_is_what_is_read(number: int, decisions: list[bool]) -> None:
    read = [Reading(at, there, "B") for at, there in enumerate(decisions)]
    assert readings_in("; ".join(map(said, [*read, *read]))) == read
    assert answers_in(answered(decisions)) == dict(enumerate(decisions))
    case = case_of(title(3, number))
    text = posed(case)
    assert (title_in(text), niche_in(text)) == (case.title, case.niche)
    way = WAYS[number % len(WAYS)]
    assert way_in(f"I see. {way_said(way)}.") == way
