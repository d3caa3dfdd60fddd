"""Processes that share a pool, and processes that die."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

from coterie.pool import Pool, verify

from ...support.processes import python, with_tests
from ..edited_teams import SEED
from ..programs.adding import team

PROGRAMS = Path(__file__).parents[1] / "programs"
WORKERS = 8
TEAMS = 6


def test_eight_processes_add_every_team_once(tmp_path: Path) -> None:
    """Half of the teams are added by all of them at once."""
    pool = Pool.init(tmp_path)
    pool.add(team(99, 100), SEED, op="root")
    running = [
        subprocess.Popen(
            [sys.executable, PROGRAMS / "adding.py", tmp_path, str(worker), str(TEAMS)],
            stderr=subprocess.PIPE,
            text=True,
        )
        for worker in range(WORKERS)
    ]
    # All are waited for before one fails the test: else others would be blamed for what is left.
    said = [process.communicate(timeout=120)[1] for process in running]
    assert [process.returncode for process in running] == [0] * WORKERS, said
    pool.refresh()
    shared, own = TEAMS // 2, WORKERS * TEAMS // 2
    assert len(pool.members) == 1 + shared + own
    assert pool.twins == {"mutate": shared * (WORKERS - 1)}
    assert set(Counter(one.identity for one in pool.members.values()).values()) == {1}
    counted = Counter(one.statistics.n for one in pool.members.values())
    assert counted == {0: 1, 1: own, WORKERS: shared}
    assert verify(tmp_path).faults == ()


def test_wherever_a_process_dies_the_updates_count_once(tmp_path: Path) -> None:
    done = python(PROGRAMS / "dying.py", tmp_path, env=with_tests())
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["died"] >= 50
    assert told["differ"] == []
    assert told["faults"] == []
