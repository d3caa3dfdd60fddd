"""P4: every update counts exactly once, whoever is killed when and starts again."""

from __future__ import annotations

import random
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from coterie.pool.ledger.ledger import START, Ledger
from coterie.schema.values.files import make_folder

from ..support.processes import with_tests
from .programs.updates import files, operation

PROGRAM = Path(__file__).parent / "programs" / "updates.py"
WORKERS = 8
KILLED = -9
POINTS = {
    "files.append.before": 100,
    "files.append.written": 100,
    "files.append.after": 100,
    "files.sync.before": 100,
    "files.write.flushed": 10,
    "files.write.replaced": 10,
}
"""Where a worker dies, and the latest time that it comes there."""


@dataclass(kw_only=True)
class Workers:
    """Workers that are killed and start again until all updates are made.

    Each dies at a failpoint, drawn anew for each start, unless it is done before.
    """

    folder: Path
    updates: int
    chance: random.Random
    running: dict[int, subprocess.Popen[str]] = field(default_factory=dict)
    died: int = 0

    def start(self, worker: int) -> None:
        name, latest = self.chance.choice(list(POINTS.items()))
        death = f"{name}:{self.chance.randint(1, min(latest, self.updates // 4))}:kill"
        self.running[worker] = subprocess.Popen(
            [sys.executable, str(PROGRAM), *map(str, (self.folder, worker, self.updates)), death],
            env=with_tests(),
            stderr=subprocess.PIPE,
            text=True,
        )

    def end_one(self) -> None:
        """Wait for one worker, and start it again unless it is done."""
        worker = self.chance.choice(list(self.running))
        process = self.running[worker]
        _, error = process.communicate()
        self.died += process.returncode == KILLED
        assert process.returncode in {0, KILLED}, error
        del self.running[worker]
        if process.returncode:
            self.start(worker)

    def stop(self) -> None:
        """Stop those that still run, when something went wrong."""
        for process in self.running.values():
            process.kill()
            process.communicate()


def test_eight_workers_make_each_update_once(tmp_path: Path, nightly: bool) -> None:
    """At nightly size there are forty times as many updates."""
    updates = 5000 if nightly else 50
    workers = Workers(folder=tmp_path, updates=updates, chance=random.Random(4))
    ledger = Ledger(tmp_path / "ledger.jsonl")
    make_folder(tmp_path / "teams")
    followed, place = list[str](), START
    try:
        for worker in range(WORKERS):
            workers.start(worker)
        while workers.running:
            workers.end_one()
            for entry in ledger.read(place):
                followed.append(entry.op)
                place = entry.end
    finally:
        workers.stop()
    entries = list(ledger.read())
    assert followed == [entry.op for entry in entries]
    pairs = [(worker, number) for worker in range(WORKERS) for number in range(updates)]
    assert Counter(followed) == dict.fromkeys((operation(*pair) for pair in pairs), 1)
    for entry in entries:
        expected = files(entry.value["worker"], entry.value["number"])
        assert {name: (tmp_path / name).read_text() for name in entry.files} == expected
    assert len(ledger.path.read_bytes().splitlines()) == WORKERS * updates
    assert all(name.startswith("teams/.") for name in ledger.orphans("teams/*"))
    assert workers.died >= (40 if nightly else 10), workers.died
