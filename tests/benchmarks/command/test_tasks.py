"""`mas-bench tasks`: a benchmark's tasks as a file that evolutions take."""

from __future__ import annotations

from pathlib import Path

from coterie.schema import Catalogue
from coterie.schema.loading.tasks import load_tasks

from .conftest import EACH, NICHES, Desk


def test_tasks_are_written_whole_and_in_order(desk: Desk) -> None:
    came = desk.bench("tasks", "bbeh-mini", "--data", "data")
    assert came.code == 0, came.err
    Path("tasks.jsonl").write_text(came.out)
    found = load_tasks(Path("tasks.jsonl"), Catalogue.of_host())
    assert len(found) == EACH * len(NICHES)
    assert all(task.answer and task.niche and task.scorer.name == "bbeh" for task in found)
    came = desk.bench("tasks", "bbeh-mini", "--data", "data", "--limit", "3")
    Path("tasks.jsonl").write_text(came.out)
    few = load_tasks(Path("tasks.jsonl"), Catalogue.of_host())
    assert few == [task for task in found if task in few]
    assert len(few) == 3


def test_what_has_no_tasks_is_told(desk: Desk) -> None:
    came = desk.bench("tasks", "math500")
    assert (came.code, came.out) == (2, "")
    assert "math500: its file is not part of coterie" in came.err
