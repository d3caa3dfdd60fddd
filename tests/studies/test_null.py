"""Equal teams: a comparison tells them apart in at most one of twenty repetitions."""

import pytest
from click.testing import CliRunner

from studies import null
from studies.intervals import World
from studies.null import errors, family_error


@pytest.mark.parametrize(
    "world",
    [
        World(tasks=2, trials=1),
        World(tasks=10, trials=5, alike=0.3),
        World(tasks=20, trials=1, alike=0.3, kind="graded"),
    ],
)
def test_equal_teams_seem_to_differ_in_at_most_one_of_twenty(world: World, nightly: bool) -> None:
    times = 4_000 if nightly else 80
    slack = 0.01 if nightly else 0.06  # two standard errors and a bit
    fields = errors(world, times=times)
    assert all(share <= 0.05 + slack for share in fields.values()), fields


def test_several_teams_seem_to_differ_no_more_often(nightly: bool) -> None:
    times = 1_000 if nightly else 20
    assert family_error(World(tasks=10, trials=3, alike=0.3), times=times) <= (
        0.06 if nightly else 0.15
    )


def test_the_table_is_printed_by_one_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(null, "SIZES", ((3, 1),))
    ran = CliRunner().invoke(null.main, ["--times", "4", "--families", "2"])
    assert ran.exit_code == 0, ran.output
    assert ran.output.startswith("| tasks | trials | scores | mcnemar |")
    assert len(ran.output.splitlines()) == 4
