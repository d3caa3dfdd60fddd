"""The benchmark of pools that grow: it writes them, opens them, works there, and prints a table."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from coterie.pool import verify
from studies.growing import HEADS, grow, main
from studies.world.builders import MODELS
from studies.world.gateway import catalogue


def test_prints_what_opening_and_a_task_take() -> None:
    result = CliRunner().invoke(main, ["--quick", "--tasks", "1"])
    assert result.exit_code == 0, result.output
    head, _, row = [line for line in result.output.splitlines() if line.startswith("|")]
    assert [cell.strip() for cell in head.split("|")[1:-1]] == list(HEADS)
    cells = [cell.strip() for cell in row.split("|")[1:-1]]
    assert cells[:2] == ["4", "60"]
    assert float(cells[-1].strip("*")) > 0


@pytest.mark.parametrize(("teams", "lines"), [(4, 60), (30, 300)])
def test_what_it_writes_is_a_pool_as_any_other(tmp_path: Path, teams: int, lines: int) -> None:
    grow(tmp_path, teams, lines)
    result = verify(tmp_path, catalogue(*MODELS))
    assert (result.lines, result.teams, result.members) == (lines, teams, teams)
    assert (result.faults, result.notes) == ((), ())
