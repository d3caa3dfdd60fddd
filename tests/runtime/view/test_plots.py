"""Parts of long tables, and figures: all is there once, and in its place."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coterie.runtime.view import Links, PageTable, TableCell, paged
from coterie.runtime.view.plots import Bar, Bars, Plot, PlotPoint, Scale, Series

SERVED = Links(here="rows", contents=["rows"], base="/x/")
IN_A_FILE = Links(here="rows", contents=["rows"])


@pytest.mark.parametrize("total", [0, 1, 99, 100, 101, 250])
def test_every_row_is_on_one_page_of_a_server(total: int) -> None:
    items, number, seen = [*range(total)], 1, list[int]()
    while True:
        part = paged(items, number, SERVED, lambda page: f"rows/{page}")
        assert part.shown == items[part.first - 1 : part.last]
        assert part.total == total
        assert part.before == (f"/x/rows/{number - 1}" if number > 1 else "")
        seen += part.shown
        if not part.after:
            break
        number += 1
        assert part.after == f"/x/rows/{number}"
    assert seen == items


def test_a_page_that_there_is_not_has_nothing() -> None:
    for number in (0, 4):
        assert not paged([1, 2], number, SERVED, str).shown


def test_a_file_has_the_first_thousand_and_leads_nowhere() -> None:
    part = paged([*range(1_500)], 1, IN_A_FILE, lambda page: f"rows/{page}")
    assert (len(part.shown), part.last, part.total, part.after) == (1_000, 1_000, 1_500, "")


def test_a_table_says_on_which_side_its_cells_are() -> None:
    table = PageTable(
        caption="c", heads={"a": "<", "n": ">"}, rows=[("x", TableCell("3", "/there"))]
    )
    assert table.cells == [[("<", TableCell("x")), (">", TableCell("3", "/there"))]]
    with pytest.raises(ValueError, match="longer"):
        _ = PageTable(caption="c", heads={"a": "<"}, rows=[("x", "y")]).cells


NUMBERS = st.lists(st.floats(-1e6, 1e6), max_size=8)


@given(NUMBERS)
def test_an_axis_holds_all_numbers_between_round_ones(numbers: list[float]) -> None:
    scale = Scale.over(numbers, 100.0, 900.0)
    assert 2 <= len(scale.ticks) <= 9
    assert scale.ticks == sorted(set(scale.ticks))
    for item in (*numbers, *scale.ticks):
        assert 99.0 <= scale.at(item) <= 901.0


@given(st.lists(st.tuples(st.floats(0, 100), st.floats(0, 1)), min_size=1, max_size=6))
def test_points_are_drawn_within_the_axes(pairs: list[tuple[float, float]]) -> None:
    points = [PlotPoint(x=x, y=y, low=y / 2, high=(1 + y) / 2) for x, y in pairs]
    drawn = Plot(caption="c", x="x", y="y", series=[Series(name="s", points=points)]).drawn
    for x, y, low, high, _ in drawn.series[0].points:
        assert drawn.left - 1 <= x <= drawn.right + 1
        assert low is not None
        assert high is not None
        assert drawn.top - 1 <= high <= y <= low <= drawn.bottom + 1


def test_what_is_no_number_is_left_out() -> None:
    points = [PlotPoint(x=1, y=math.nan), PlotPoint(x=math.inf, y=1), PlotPoint(x=2, y=3)]
    plot = Plot(caption="c", x="x", y="y", series=[Series(name="s", points=points, is_line=True)])
    (series,) = plot.drawn.series
    assert [item.y for *_, item in series.points] == [3]
    assert series.path.startswith("M")
    assert "L" not in series.path


def test_lines_have_bands_and_fronts_have_none() -> None:
    points = [PlotPoint(x=n, y=0.5, low=0.4, high=0.6) for n in range(3)]
    both = [
        Series(name="line", points=points, is_line=True),
        Series(name="front", points=points, is_line=True, has_points=False),
    ]
    line, front = Plot(caption="c", x="x", y="y", series=both).drawn.series
    assert line.band.count("L") == 5
    assert (front.band, len(front.points)) == ("", 0)


def test_bars_stand_where_their_figures_are() -> None:
    bars = Bars(caption="c", bars=[Bar(name="n" * 60, value=0.5, low=0.25, high=0.75, label="")])
    ((_, value, low, high, bar),) = bars.rows
    assert value - low == pytest.approx(high - value, abs=0.2)
    assert bars.at(0.5) == value
    assert len(bar.short) <= 34
