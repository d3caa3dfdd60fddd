"""`mas-bench tasks`: a benchmark's tasks as a file that evolutions take."""

from pathlib import Path

from coterie.schema import Catalogue
from coterie.schema.loading.tasks import load_tasks

from .conftest import EACH, NICHES, Cli


def test_tasks_are_written_whole_and_in_order(cli: Cli) -> None:
    result = cli.bench("tasks", "bbeh-mini", "--data", "data").ended(0)
    Path("tasks.jsonl").write_text(result.out)
    hits = load_tasks(Path("tasks.jsonl"), Catalogue.of_host())
    assert len(hits) == EACH * len(NICHES)
    assert all(task.answer and task.niche and task.scorer.name == "bbeh" for task in hits)
    result = cli.bench("tasks", "bbeh-mini", "--data", "data", "--limit", "3")
    Path("tasks.jsonl").write_text(result.out)
    few = load_tasks(Path("tasks.jsonl"), Catalogue.of_host())
    assert few == [task for task in hits if task in few]
    assert len(few) == 3


def test_what_has_no_tasks_is_told(cli: Cli) -> None:
    assert "math500: its file is not part of coterie" in cli.bench("tasks", "math500").refused()
