"""Hostile answers in what agents learn: short entries of the right agent, all counted."""

from __future__ import annotations

from typing import Any

import pytest

from coterie.operators import Meta
from coterie.operators.population.fusing import LONGEST_ENTRY, fuse
from coterie.operators.population.reflecting import Reflection, reflect
from coterie.pool.learnt import Learnt

from ..asking import TASK
from ..hostile import fusions, reflections
from ..test_hostile_answers import Count, hostile
from .test_reflecting import WORK

SHARES = {"reflect": 2_500, "fuse": 1_500}
"""How many answers each has to live through, at night."""
OF_A_DAY = 60
"""The part of them that is tried on every change."""


@pytest.fixture
def part(nightly: bool) -> int:
    return 1 if nightly else OF_A_DAY


def examples(operator: str, part: int) -> int:
    """Many examples ask twice."""
    return max(40, SHARES[operator] * 7 // 10 // part)


def enough(count: Count, operator: str, part: int, came: str) -> None:
    assert count.answers >= SHARES[operator] // part, count.answers
    assert count.came["Dropped"] + count.came[came] == count.came.total()
    assert count.came["Dropped"] > count.came.total() / 10
    assert count.came[came] > 0


def test_reflections(part: int) -> None:
    async def work(meta: Meta, _: Any) -> Any:
        return await reflect(meta, "r", TASK, WORK, reward=0.5)

    def are_short_and_of_their_agent(came: Reflection) -> None:
        for entry in came.entries(TASK, "ada", credit=0.5, run="here"):
            again = Learnt.of(entry.value())
            assert (again.owner, again.giver, again.case) == ("ada", None, TASK.id)
            assert (again.credit, again.replaces) == (0.5, ())
            assert 0 < len(again.text) <= LONGEST_ENTRY
            assert "\n" not in again.text

    count = hostile(reflections(), examples("reflect", part), work, are_short_and_of_their_agent)
    enough(count, "reflect", part, "Reflection")


def test_fusions(part: int) -> None:
    async def work(meta: Meta, _: Any) -> Any:
        return await fuse(meta, "f", "Carry.", "Carry on.")

    def is_short(came: str) -> None:
        assert 0 < len(came) <= LONGEST_ENTRY
        assert "\n" not in came

    count = hostile(fusions(), examples("fuse", part), work, is_short)
    enough(count, "fuse", part, "str")
