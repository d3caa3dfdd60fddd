"""How a population's folder grows: what is counted, and what its history shows of ten tasks."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from studies import town
from studies.world.trials import NAME, Job

TASKS = 40


def test_the_pool_is_counted_without_the_evolution_and_its_history_shows_ten_tasks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def worked(folder: Path, job: Job, on_episode: Callable[[Mapping[str, Any]], None]) -> None:
        assert job.tasks == TASKS
        evolution = folder / "pool" / "evolutions" / NAME
        evolution.mkdir(parents=True)
        (evolution / "journal").write_bytes(bytes(2_000_000))
        with (folder / "pool" / "ledger.jsonl").open("a", encoding="utf-8") as ledger:
            for number in range(job.tasks):
                ledger.write(f"{number:024999}\n")
                ledger.flush()
                on_episode({})

    monkeypatch.setattr(town, "work_in", worked)
    texts = [*town.grown(tmp_path / "town", TASKS)]
    assert "| the pool, as committed | 1.00 |" in texts
    assert "| the evolution's journal and lines | 2.00 |" in texts
    assert "pool/ledger.jsonl | 10 +" in texts[-1]
