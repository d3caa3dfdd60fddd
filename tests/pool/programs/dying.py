"""Makes updates of a pool in children that die at every place where one can, and restarts them.

`dying.py FOLDER` prints how often a child died, and after which deaths the pool was not what it is
without them.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from collections import Counter
from pathlib import Path
from typing import Any

from adding import team

from coterie.pool import Pool, Trial, verify
from coterie.pool.ledger.changes import ChildRejected, Evaluated, Retired
from coterie.schema import Lineage
from tests.support.failpoints import armed

BORN = Lineage(operator="mutate", parents=("made",), task="t")


def updates(folder: Path) -> None:
    """Make all updates, or what is left of them."""
    pool = Pool.init(folder, report=lambda _: None)
    pool.add(team(0, 0), Lineage(operator="seed"), op="root")
    for number in (1, 2):
        name = pool.add(team(1, number), BORN, op=f"add {number}").name
        pool.commit(
            Evaluated(member=name, trial=Trial(task="t", score=number / 4)), op=f"evaluate {number}"
        )
    pool.add(team(2, 1), BORN, op="add a twin")
    pool.commit(ChildRejected(operator="mutate", reason="bad"), op="reject")
    pool.commit(Retired(member="made_1", reason="weak"), op="retire")


def die(folder: Path, failpoint: str) -> bool:
    """Begin the updates in a child; tell whether it died there."""
    if (child := os.fork()) == 0:
        with armed(failpoint):
            updates(folder)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL


def content(folder: Path) -> Any:
    """Give all that a pool holds."""
    pool = Pool.open(folder)
    files = {path.name: path.read_text() for path in folder.glob("teams/[!.]*")}
    lines = (folder / "ledger.jsonl").read_text()
    statistics = {name: str(member.statistics) for name, member in pool.teams.items()}
    return files, lines, statistics, list(pool.members), verify(folder).faults


def main(folder: Path) -> None:
    counted = folder / "count"
    die(folder / "counting", f"count:{counted}")
    updates(folder / "whole")
    whole = content(folder / "whole")
    died, differ = 0, list[str]()
    for name, visits in Counter(counted.read_text().split()).items():
        for number in range(1, visits + 1):
            failpoint = f"{name}:{number}:kill"
            pool = folder / failpoint
            died += die(pool, failpoint)
            updates(pool)
            if content(pool) != whole:
                differ.append(failpoint)
    json.dump({"died": died, "differ": differ, "faults": whole[-1]}, sys.stdout)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
