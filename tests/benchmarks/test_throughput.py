"""The measurement of throughput runs; what it measures depends on the machine."""

from __future__ import annotations

import subprocess
import sys


def test_it_records_and_replays() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "coterie.benchmarks.throughput", "--tasks", "8"],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    head, *rows = done.stdout.splitlines()
    assert "tasks/s" in head
    assert [row.split()[0] for row in rows] == ["record", "replay"]
    for row in rows:
        rate, cpu, before, *quarters = map(float, row.split()[1:])
        assert min(rate, cpu, before) > 0
        assert len(quarters) == 4
