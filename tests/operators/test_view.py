"""What a task of an evolution sees of a pool stays what it was when the task began."""

from __future__ import annotations

from pathlib import Path

from coterie.operators.view import View, op
from coterie.pool.pool import Pool
from coterie.pool.statistics import Trial
from coterie.schema import Lineage

from .asking import catalogue, llm, team


def test_what_a_turn_sees_does_not_grow_with_later_turns(tmp_path: Path) -> None:
    pool = Pool.init(tmp_path / "pool", catalogue=catalogue())
    pool.add(team("pair", llm("a")), Lineage(operator="seed"), op="seed")
    view = View(pool.folder, "evomas")
    for turn, score in enumerate([1.0, 0.0]):
        trial = Trial(task=f"t{turn}", niche="sums", score=score)
        pool.record("pair", trial, op=op("evomas", turn, "trial 0"))
    view.catch_up(0)
    seen = view.members["pair"]
    view.catch_up(1)
    later = view.members["pair"]
    for known in (seen.statistics, seen.on("sums"), seen.on_task("t0")):
        assert known is not None
        assert (known.n, known.score) == (1, 1.0)
    assert seen.on_task("t1") is None
    assert (later.statistics.n, later.statistics.score) == (2, 0.5)
