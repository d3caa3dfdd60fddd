"""The measurement of throughput runs; what it measures depends on the machine."""

import subprocess
import sys

import pytest

from studies.carrying import Carried


def lines(*words: str) -> list[str]:
    """Return what the measurement prints."""
    done = subprocess.run(
        [sys.executable, "-m", "studies.throughput", *words],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_it_records_and_replays() -> None:
    head, *rows = lines("--tasks", "8")
    assert "tasks/s" in head
    assert [row.split()[0] for row in rows] == ["record", "replay"]
    for row in rows:
        rate, cpu, before, *quarters = map(float, row.split()[1:])
        assert min(rate, cpu, before) > 0
        assert len(quarters) == 4


def test_it_tells_what_one_process_carries() -> None:
    head, _, *rows = lines("--calls", "12", "--latency", "0.05")
    assert "calls/s of a core" in head
    textses = [[cell.strip() for cell in row.strip("|").split("|")] for row in rows]
    often = "calls, garbage searched often"
    assert [cells[0] for cells in textses] == ["calls", often, "calls", "journal", "votes"]
    assert [int(cells[1]) for cells in textses[1:]] == [12, 12, 12, 12]
    for cells in textses:
        assert min(float(cell.replace(",", "")) for cell in cells[3:7]) > 0


@pytest.mark.parametrize(
    ("cpu", "model", "limit"),
    [(9.5, 9.5, "its core"), (3.0, 9.5, "the simulated model's core"), (3.0, 3.0, "the latency")],
)
def test_the_limit_is_what_had_no_rest(cpu: float, model: float, limit: str) -> None:
    carried = Carried(calls=9, most=3, wall=10.0, cpu=cpu, peak=1.0, model=model)
    assert carried.limit == limit
