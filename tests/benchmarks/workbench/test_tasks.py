"""The tasks of the two benchmarks."""

from pathlib import Path

import pytest

from coterie.benchmarks.evaluation.benchmark import Source, find_benchmark
from coterie.benchmarks.workbench.tasks import WORKBENCH, WORKBENCH_DOMAINS
from coterie.schema.values.errors import InputError

from .conftest import HEAD, write, write_workplace


def test_tasks_come_in_order_with_ids_and_niches(folder: Path) -> None:
    tasks = find_benchmark("workbench").tasks(Source(data=folder))
    assert [(task.id, task.niche) for task in tasks] == [
        ("analytics-0", "analytics"),
        ("calendar-0", "calendar"),
        ("calendar-1", "calendar"),
        ("crm-0", "crm"),
        ("email-0", "email"),
        ("multi_domain-0", "multi_domain"),
        ("project_management-0", "project_management"),
    ]
    assert tasks[1].answer == ['calendar.delete_event.func(event_id="00000009")']


def test_the_query_says_when_it_is_what_there_is_and_how_to_answer(folder: Path) -> None:
    query = WORKBENCH.tasks(Source(data=folder))[1].query
    for part in (
        "Thursday, 2023-11-30, 00:00:00",
        "9:00",
        "18:00",
        "Cancel the team lunch.",
        "calendar.search_events.func(query='', time_min=None, time_max=None): ",
        "FUNCTION_CALLS:",
    ):
        assert part in query
    assert query.count("\n- ") == 27
    assert "00000009" not in query


def test_the_named_domains_bring_their_tools_and_the_directory(folder: Path) -> None:
    tasks = {task.id: task for task in WORKBENCH_DOMAINS.tasks(Source(data=folder))}
    assert tasks["calendar-0"].query.count("\n- ") == 6
    assert tasks["calendar-0"].scorer.options["toolkits"] == ["calendar", "company_directory"]
    assert "search_customers" in tasks["crm-0"].query


def test_the_domain_crm_of_several_domains_brings_no_tools(folder: Path) -> None:
    tasks = {task.id: task for task in WORKBENCH_DOMAINS.tasks(Source(data=folder))}
    assert tasks["multi_domain-0"].scorer.options["toolkits"] == ["calendar", "company_directory"]
    assert "search_customers" not in tasks["multi_domain-0"].query


@pytest.mark.parametrize(
    "row", [("q", "oops(", "[]"), ("q", "[1]", "[]"), ("q", "{}", "[]"), ("q", "[]", "")]
)
def test_a_broken_file_of_tasks_is_refused(tmp_path: Path, row: tuple[str, ...]) -> None:
    folder = write_workplace(tmp_path)
    path = folder / "data/processed/queries_and_answers/email_queries_and_answers.csv"
    write(path, [HEAD, row])
    with pytest.raises(InputError):
        WORKBENCH.tasks(Source(data=folder))
    path.unlink()
    with pytest.raises(InputError, match="clone"):
        WORKBENCH.tasks(Source(data=folder))
