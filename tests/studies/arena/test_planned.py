"""Plans beside what is spent: of methods that meet their cap, a pilot says the rest to the call."""

from pathlib import Path

import pytest

from studies.arena.planned import CASES, MOST_OFF, Case, off, planned


def test_there_are_ten_arenas() -> None:
    assert len({*CASES}) == 10


@pytest.mark.parametrize(("expected", "spent", "times"), [(13, 10, 1.3), (10, 13, 1.3), (0, 0, 0)])
def test_more_and_less_are_equally_off(expected: int, spent: int, times: float) -> None:
    assert off(expected, spent) == pytest.approx(times)


@pytest.mark.usefixtures("own_path")
def test_a_pilot_plans_the_rest_of_a_small_arena(tmp_path: Path) -> None:
    case = Case(world="gain", cap=6, evolve=4, test=2, methods=("team as it is", "chance edits"))
    expected, spent = planned(case, tmp_path)
    assert spent.calls > 2 * 6
    assert max(off(*pair) for pair in zip(expected, spent, strict=True)) < MOST_OFF
