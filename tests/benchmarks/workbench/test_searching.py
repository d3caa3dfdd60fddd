"""Points in time and expressions, as the original's tools take them."""

from datetime import datetime

import pytest

from coterie.benchmarks.workbench.searching import expression_in, moment
from coterie.runtime.tools import ToolError

NINE = datetime(2023, 12, 1, 9)  # noqa: DTZ001 - of a world without zones


@pytest.mark.parametrize(
    "text",
    [
        "2023-12-01 09:00:00",
        "2023-12-01T09:00",
        "2023-12-1 9:0",
        "12/01/2023 9am",
        "1 December 2023 9:00",
        "Dec 1, 2023 at 9:00",
        "20231201 090000",
    ],
)
def test_ways_to_write_a_point_in_time(text: str) -> None:
    assert moment(text) == NINE


def test_what_is_not_said_is_the_beginning_of_the_year_one() -> None:
    assert moment("2023-12") == datetime(2023, 12, 1)  # noqa: DTZ001
    assert moment("9:30") == datetime(1, 1, 1, 9, 30)  # noqa: DTZ001


def test_now_is_the_benchmarks_and_numbers_count_nanoseconds() -> None:
    assert moment("now") == moment("today") == datetime(2023, 11, 30)  # noqa: DTZ001
    assert moment(10**18) == datetime(2001, 9, 9, 1, 46, 40)  # noqa: DTZ001
    assert moment("NaT") is None


@pytest.mark.parametrize(
    "value",
    [
        "soon",
        "Friday",
        "12",
        "2023-02-30",
        "2023-12-01 24:00",
        "1" * 200,
        True,
        ["2023"],
        None,
        1e30,
    ],
)
def test_what_is_no_point_in_time(value: object) -> None:
    with pytest.raises((ValueError, TypeError, OverflowError)):
        moment(value)


@pytest.mark.parametrize("pattern", ["(", "[a", "*a", "a{2,1}", "a(?i)", "(?R)", "a**", "\\1"])
def test_what_is_no_expression(pattern: str) -> None:
    with pytest.raises(ToolError):
        expression_in(pattern)


def test_a_doubtful_expression_is_no_warning() -> None:
    assert expression_in("[[a]")("[") is True
    assert expression_in("A")("a") is True
    assert expression_in("A", ignore_case=False)("a") is False
    assert expression_in("a")(5) is None
