"""Makes one worker's updates of a ledger: `updates.py FOLDER WORKER NUMBER FAILPOINT`."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

from coterie.pool.ledger.ledger import Ledger
from tests.support.failpoints import armed


def operation(worker: int, number: int) -> str:
    return f"worker {worker}/update {number}"


def files(worker: int, number: int) -> Mapping[str, str]:
    """Give what comes with an update: every tenth has a team."""
    return {} if number % 10 else {f"teams/{worker}-{number}.yaml": f"name: t_{worker}_{number}\n"}


def main(folder: Path, worker: int, updates: int) -> None:
    ledger = Ledger(folder / "ledger.jsonl")
    for number in range(updates):
        value = {"worker": worker, "number": number}
        ledger.commit(value, op=operation(worker, number), files=files(worker, number))


if __name__ == "__main__":
    with armed(sys.argv[4]):
        main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
