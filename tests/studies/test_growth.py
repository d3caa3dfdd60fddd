"""The benchmark of growth: each curve is measured, and its exponent is that of its last step."""

import pytest
from click.testing import CliRunner

from studies.growth import CURVES, exponent, main


@pytest.mark.parametrize("power", [0.0, 1.0, 2.0])
def test_the_exponent_is_the_power_of_the_size(power: float) -> None:
    assert exponent((10, 3.0), (1_000, 3.0 * 100**power)) == pytest.approx(power)


def test_prints_each_curve_at_its_sizes() -> None:
    result = CliRunner().invoke(main, ["--quick"])
    assert result.exit_code == 0, result.output
    rows = [line.split("|")[1:-1] for line in result.output.splitlines()[2:]]
    assert [name.strip() for name, _, _ in rows] == [curve.name for curve in CURVES]
    for _, cells, _ in rows:
        assert [cell.split(":")[0].strip() for cell in cells.split(";")] == ["8", "16"]
