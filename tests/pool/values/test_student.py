"""Intervals of means of few values."""

import pytest

from coterie.pool.values.student import t_interval, t_quantile


@pytest.mark.parametrize(
    ("values", "reach"),
    [
        ([0.0, 1.0], 12.7062 * 0.5),
        ([0.0, 0.5, 1.0], 4.3027 * 0.5 / 3**0.5),
        ([1.0, 2.0, 3.0, 4.0], 3.1824 * 1.290994 / 2),
    ],
)
def test_the_interval_is_students(values: list[float], reach: float) -> None:
    interval = t_interval(values)
    assert interval is not None
    mean = sum(values) / len(values)
    assert interval == pytest.approx((mean - reach, mean + reach), abs=1e-4)


def test_one_value_has_no_interval() -> None:
    assert t_interval([0.5]) is None


@pytest.mark.parametrize(
    ("degrees", "level", "quantile"),
    [(1, 0.95, 12.7062), (1, 0.99, 63.6567), (9, 0.99, 3.2498), (200, 0.99, 2.6006)],
)
def test_quantiles_are_those_of_the_tables(degrees: int, level: float, quantile: float) -> None:
    assert t_quantile(degrees, level) == pytest.approx(quantile, abs=1e-4)
