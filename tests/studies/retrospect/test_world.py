"""The rules of the world: which parts come out right how often, by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from studies.retrospect.landscapes import RANGES, drawn, landscape, level, sound
from studies.retrospect.world import (
    LETTERS,
    Hands,
    Measure,
    chance_right,
    measured,
    order_of,
    shifted,
    strayed,
    title,
    worked,
)

WORLD = replace(drawn(1), able=0.9, stranger=0.1, misread=0.2, vague=0.3, clutter=1.0, stray=0.5)
ORDER = order_of(WORLD, title("learn", 1, 0))
PARTS = {one.sort: one for one in ORDER.parts}
ONE, OTHER, THIRD, FOURTH = WORLD.members


def hands(craft: str, rod: str, *details: str, source: str | None = None, idle: int = 0) -> Hands:
    measure = Measure(part=1, source=source, number=7, details=details) if source else None
    return Hands(craft=craft, rod=rod, measure=measure, idle=idle)


def test_an_order_has_a_part_in_the_way_of_which_is_each_defect_for_each_who_has_it() -> None:
    sorts = [one.sort for one in ORDER.parts]
    assert {one: sorts.count(one) for one in sorts} == {
        "plain": 3,
        "missing": 1,
        "misread": 2,
        "vague": 2,
    }
    assert PARTS["missing"].craft == WORLD.missing
    for one in ORDER.parts:
        member = WORLD.member(one.craft)
        assert one.source in {None, member.source if member else None}
        assert (one.source is not None) == (one.sort in {"misread", "vague"})
        assert one.answer in LETTERS
    assert order_of(WORLD, title("learn", 1, 0)) == ORDER != order_of(WORLD, title("test", 1, 0))


def test_a_part_is_right_as_often_as_what_is_in_its_way_allows() -> None:
    plain, missing, misread, vague = (PARTS[it] for it in ("plain", "missing", "misread", "vague"))
    assert chance_right(WORLD, plain, hands(plain.craft, ONE.rod)) == pytest.approx(0.9)
    assert chance_right(WORLD, missing, hands(str(missing.craft), ONE.rod)) == pytest.approx(0.9)
    assert chance_right(WORLD, missing, Hands(craft=None, rod=ONE.rod)) == pytest.approx(0.1)
    reader, writer = (ONE, OTHER) if misread.craft == ONE.craft else (OTHER, ONE)
    of = writer.craft
    by_own = hands(reader.craft, reader.rod, source=of)
    assert chance_right(WORLD, misread, by_own) == pytest.approx(0.2)
    by_theirs = hands(reader.craft, writer.rod, source=of)
    assert chance_right(WORLD, misread, by_theirs) == pytest.approx(0.9)
    assert chance_right(WORLD, misread, hands(reader.craft, writer.rod)) == pytest.approx(0.3)
    reader, writer = (THIRD, FOURTH) if vague.craft == THIRD.craft else (FOURTH, THIRD)
    of, need = writer.craft, str(reader.need)
    said = hands(reader.craft, reader.rod, source=of)
    assert chance_right(WORLD, vague, said) == pytest.approx(0.3)
    assert chance_right(WORLD, vague, hands(reader.craft, reader.rod, need, source=of)) == (
        pytest.approx(0.9)
    )
    wrongly = hands(reader.craft, ONE.rod, need, source=of)
    assert chance_right(WORLD, vague, wrongly) == pytest.approx(0.2)


def test_idle_notes_and_needless_candidates_do_harm() -> None:
    plain = PARTS["plain"]
    cluttered = chance_right(WORLD, plain, hands(plain.craft, ONE.rod, idle=2))
    assert cluttered == pytest.approx(shifted(0.9, -2.0)) == pytest.approx(0.549, abs=1e-3)
    orders = [order_of(WORLD, title("test", 1, number)) for number in range(80)]
    astray = [strayed(WORLD, one, part, ["painter"]) for one in orders for part in one.parts]
    assert 0.4 < astray.count("painter") / len(astray) < 0.6
    assert strayed(WORLD, ORDER, plain, []) is None


@given(seed=st.integers(0, 10_000))
@settings(max_examples=20)
def test_a_world_has_its_defects_or_none(seed: int) -> None:
    one, other, third, fourth = drawn(seed).members
    assert one.rod != other.rod
    assert third.rod == fourth.rod not in {one.rod, other.rod}
    assert None not in {third.need, fourth.need}
    assert len({third.need, fourth.need}) == 2
    assert (one.source, other.source) == (other.craft, one.craft)
    assert (third.source, fourth.source) == (fourth.craft, third.craft)
    assert len({*drawn(seed).crafts}) == 5
    for name, (low, high) in RANGES.items():
        assert low <= getattr(drawn(seed), name) <= high
    whole = sound(seed)
    assert whole.missing is None
    assert {one.need for one in whole.members} == {None}
    assert len({one.rod for one in whole.members}) == 1
    assert len(whole.members) == 5


def test_in_a_level_world_nothing_that_anybody_has_at_hand_changes_anything() -> None:
    world = level(1, "somebody")
    order = order_of(world, title("test", 1, 0))
    some = [Hands(craft=None, rod=ONE.rod), hands(ONE.craft, OTHER.rod, source=OTHER.craft, idle=9)]
    for part in order.parts:
        assert len({round(chance_right(world, part, one), 9) for one in some}) == 1
        assert len({worked(world, order, part, one) for one in some}) == 1
        assert strayed(world, order, part, ["painter"]) is None
    lucks = [landscape("level", 1, name) for name in "ab"]
    came = [
        [worked(it, order_of(it, title("test", 1, n)), part, some[0])]
        for it in lucks
        for n in range(9)
        for part in order_of(it, title("test", 1, n)).parts
    ]
    assert came[: len(came) // 2] != came[len(came) // 2 :]


def test_luck_is_the_same_for_all_arms() -> None:
    for part in ORDER.parts:
        able, stranger = (Hands(craft=craft, rod=ONE.rod) for craft in (part.craft, None))
        if worked(WORLD, ORDER, part, stranger) == part.answer and part.source is None:
            assert worked(WORLD, ORDER, part, able) == part.answer
    assert measured(WORLD, ORDER, ORDER.parts[0]) == measured(WORLD, ORDER, ORDER.parts[0])
