"""A recorded evolution on the landscape: made again, it comes out the same, to the byte.

The recording is made anew by `python -m tests.studies.test_landscape_recorded`, which is
for changes that are meant to change what evolutions do, and for nothing else.
"""

import json
import shutil
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from coterie.pool.ledger.ledger import Ledger
from coterie.pool.teams.pool import Pool
from studies.world.trials import DRAWN, Job, work_in

RECORDED = Path(__file__).parent / "recorded" / "landscape"
TRIALS = {"evomas": "early_stop", "chance": "all by chance", "best_of_n": "best of n"}
TASKS = 60
TEAMS, TURNS, LEDGER, LEARNT = "teams.yaml", "turns.jsonl", "ledger.jsonl", "learnt.jsonl"
TOLD = {"born", "twin", "evaluated", "failed", "rejected", "retired", "restored"}
"""The lines of a ledger that tell of teams; how else a pool keeps its books may change."""


def record(name: str, folder: Path) -> dict[str, str]:
    """Evolve, and give what came of it as texts by the names of their files."""
    job = Job(study="landscape", world=DRAWN, row=TRIALS[name], seed=3, tasks=TASKS)
    work_in(folder, job)
    pool = folder / "pool"
    teams = {path.name: path.read_text("utf-8") for path in sorted(pool.glob("teams/*.yaml"))}
    report: list[list[Any]] = [
        [entry.op, dict(entry.value), list(entry.files)]
        for entry in Ledger(pool / "ledger.jsonl").read()
        if entry.value["kind"] in TOLD
    ]
    learnt = [
        {"id": item.id, "task": item.task, "niche": item.niche, "summary": item.text}
        for item in Pool.open(pool).learnt.values()
    ]
    return {
        TEAMS: "".join(f"# {name}\n{text}" for name, text in teams.items()),
        TURNS: (pool / "evolutions" / "trial" / TURNS).read_text("utf-8"),
        LEDGER: _lines(report),
        LEARNT: _lines(learnt),
    }


def _lines(values: list[Any]) -> str:
    return "".join(f"{json.dumps(value, ensure_ascii=False)}\n" for value in values)


@pytest.mark.parametrize("name", TRIALS)
def test_a_recorded_evolution_comes_out_the_same(name: str, tmp_path: Path) -> None:
    fields = record(name, tmp_path)
    recorded = {word: (RECORDED / name / word).read_text("utf-8") for word in fields}
    assert fields[TEAMS].count("# ") >= 3
    assert fields == recorded


if __name__ == "__main__":
    shutil.rmtree(RECORDED, ignore_errors=True)
    for trial in TRIALS:
        (RECORDED / trial).mkdir(parents=True)
        with TemporaryDirectory() as scratch:
            for file, text in record(trial, Path(scratch)).items():
                (RECORDED / trial / file).write_text(text, encoding="utf-8")
