"""The measurement of what traces cost runs; what it measures depends on the machine."""

from studies.traced import main

from ..support.commands import invoked


def test_each_way_is_measured() -> None:
    _, *rows = invoked(main, ["--tasks", "4", "--times", "1"], "traced").out.splitlines()
    assert [row.rsplit(maxsplit=1)[0] for row in rows] == ["without", "traces", "with content"]
    assert all(float(row.split()[-1]) > 0 for row in rows)
