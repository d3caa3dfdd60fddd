"""P4: every update counts exactly once, whoever is killed when and starts again."""

import random
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from coterie.pool.ledger.ledger import START, Ledger
from coterie.schema.values.files import make_folder

from ..support.failpoints import armed
from ..support.processes import KILLED, Child

WORKERS = 8
POINTS = {
    "files.append.before": 100,
    "files.append.written": 100,
    "files.append.after": 100,
    "files.sync.before": 100,
    "files.write.flushed": 10,
    "files.write.replaced": 10,
}
"""Where a worker dies, and the latest time that it comes there."""


def operation(worker: int, number: int) -> str:
    return f"worker {worker}/update {number}"


def files(worker: int, number: int) -> Mapping[str, str]:
    """Return what comes with an update: every tenth has a team."""
    return {} if number % 10 else {f"teams/{worker}-{number}.yaml": f"name: t_{worker}_{number}\n"}


@dataclass(kw_only=True)
class Workers:
    """Workers that are killed and start again until all updates are made.

    Each dies at a failpoint, drawn anew for each start, unless it is done before.
    """

    folder: Path
    updates: int
    chance: random.Random
    running: dict[int, Child] = field(default_factory=dict[int, Child])
    died: int = 0

    def start(self, worker: int) -> None:
        name, latest = self.chance.choice(list(POINTS.items()))
        number = self.chance.randint(1, min(latest, self.updates // 4))
        self.running[worker] = Child(lambda: self.update(worker, f"{name}:{number}:kill"))

    def update(self, worker: int, failpoint: str) -> None:
        """Make all updates of a worker, from the first on, until it dies."""
        ledger = Ledger(self.folder / "ledger.jsonl")
        with armed(failpoint):
            for number in range(self.updates):
                value = {"worker": worker, "number": number}
                op = operation(worker, number)
                ledger.commit(value, op=op, files=files(worker, number))

    def end_one(self) -> None:
        """Wait for one worker, and start it again unless it is done."""
        worker = self.chance.choice(list(self.running))
        code = self.running.pop(worker).wait()
        self.died += code == KILLED
        assert code in {0, KILLED}
        if code:
            self.start(worker)

    def stop(self) -> None:
        """Stop those that still run, when something went wrong."""
        for child in self.running.values():
            child.kill()
            child.wait()


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
